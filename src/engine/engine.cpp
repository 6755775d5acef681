#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/async/run_on.hpp"
#include "base/planted.hpp"
#include "engine/rows/call_ids.hpp"
#include "engine/rows/versions.hpp"
#include "engine/steps/family.hpp"
#include "engine/steps/verify.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t round_instances = 256;
constexpr milliseconds look_over_interval = std::chrono::seconds{30};
constexpr int look_share = 20;  // Of the time, one part for looking over all that is open.
constexpr std::int64_t steps_max = 50'000;
constexpr std::int64_t steps_warned = 10'000;
constexpr std::string_view unread = "workflows cannot be read, and wait";

constexpr std::string_view unrecorded =
    "a workflow depends on what is not recorded, such as a clock of its own";

}  // namespace

// --- The flow thread ---

engine::engine(deps with, engine_options options)
    : with_(with),
      options_(options),
      intake_({with.maker, with.env.clock, with.env.log}, starts_),
      report_(with.env.clock),
      mailroom_({with.env, with.where, loop_, starts_, report_, counts_.unfit, with.maker},
                options.unclaimed_kept),
      works_({with.env, with.where, loop_, report_}),
      frames_(options.cache_bytes),
      loop_(with.env, [this] { turn(); }) {}

result<> engine::add(const detail::workflow_entry& code, const detail::start_rule& rule) {
    if (with_.handlers.frozen())
        return fail(error_code::invalid_argument,
                    "the workflow {} comes too late; add workflows before the node starts",
                    code.name());
    const std::pair key(std::string(code.name()), std::int64_t{code.version()});
    if (!codes_.emplace(key, &code).second)
        return fail(error_code::invalid_argument,
                    "version {} of the workflow {} is added already; give each its own number",
                    key.second, key.first);
    if (rule.signal.empty()) return {};
    // Of several versions that a signal starts the newest is.
    const auto known = std::ranges::find_if(starts_, [&](const starting_rule& each) {
        return each.workflow == key.first && each.on.signal == rule.signal;
    });
    if (known == starts_.end())
        starts_.push_back({key.first, key.second, rule});
    else if (known->version < key.second)
        *known = {key.first, key.second, rule};
    return {};
}

result<> engine::prepare() {
    if (!is_hosting()) return {};
    if (with_.where.sharing() != nullptr)
        return fail(error_code::invalid_configuration,
                    "this node has workflows, which run on SQLite only by now; give it a file, or "
                    "remove them");
    if (!with_.has_one_database)
        return fail(
            error_code::invalid_configuration,
            "this node has workflows, and an inbox with a file of its own; what comes for a "
            "workflow and what it does are one commit: remove store.inbox_url");
    if (!with_.maker.defaults().may_send)
        return fail(
            error_code::invalid_configuration,
            "this node has workflows but no outbox, so they could call nothing; give it one "
            "with service.parts = \"both\"");
    return add_intake(with_.handlers, intake_);
}

task<> engine::run() {
    std::vector<linked_version> linked;
    for (const auto& [key, code] : codes_) linked.push_back(key);
    if (!linked.empty()) submit_versions(with_.where, with_.env, std::move(linked));
    if (is_hosting())
        co_await loop_.run();
    else
        co_await run_on(with_.env.readers, [this] { return look_over(), true; });
}

void engine::wake() {
    if (is_hosting()) loop_.wake();
}

void engine::turn() {
    mailroom_.look([this](std::int64_t instance, std::int64_t seq) { note_mail(instance, seq); });
    if (is_look_due()) {
        look_over();
        mailroom_.forget_expired();
    }
    activate_some();
    counts_.frames = static_cast<std::int64_t>(frames_.size());
    counts_.frame_bytes = static_cast<std::int64_t>(frames_.bytes());
}

void engine::make_ready(std::int64_t instance) {
    auto& one = activities_[instance];
    if (one.is_busy || std::exchange(one.is_queued, true)) return;
    ready_.push_back(instance);
}

void engine::note_mail(std::int64_t instance, std::int64_t seq) {
    auto& one = activities_[instance];
    if (one.is_busy && (seq == 0 || seq != one.taking))
        one.came = one.came == 0 && seq != 0 ? seq : activity::several;
    make_ready(instance);
}

void engine::look_over_soon() {
    wants_look_ = true;
    wake();
}

bool engine::is_look_due() {
    if (!looked_over_at_) return true;
    const std::chrono::nanoseconds pause =
        wants_look_
            ? std::min<std::chrono::nanoseconds>(look_took_ * look_share, look_over_interval)
            : look_over_interval;
    const auto left = pause - (with_.env.clock.steady() - *looked_over_at_);
    if (left <= left.zero()) return true;
    if (wants_look_ && !std::exchange(is_look_planned_, true))
        loop_.do_later(std::chrono::ceil<milliseconds>(left), [this] {
            is_look_planned_ = false;
            wake();
        });
    return false;
}

void engine::look_over() {
    wants_look_ = false;
    const auto began = with_.env.clock.steady();
    report_.look_over(with_.where,
                      [this](const instance_row& of) { return code_for(of) != nullptr; });
    looked_over_at_ = with_.env.clock.steady();
    look_took_ = *looked_over_at_ - began;
}

// --- Running code ---

const detail::workflow_entry* engine::find_code(std::string_view workflow,
                                                std::int64_t version) const {
    const auto found = codes_.find(std::pair(std::string(workflow), version));
    return found == codes_.end() ? nullptr : found->second;
}

const detail::workflow_entry* engine::code_for(const instance_row& of) const {
    if (of.version != 0 && !POSTHORN_PLANTED(pin_ignored))
        return find_code(of.workflow, of.version);
    const auto after = codes_.upper_bound(std::pair(of.workflow, INT64_MAX));
    if (after == codes_.begin()) return nullptr;
    const auto newest = std::prev(after);
    return newest->first.first == of.workflow ? newest->second : nullptr;
}

void engine::activate_some() {
    std::vector<loaded> round;
    while (!ready_.empty() && round.size() < round_instances) {
        auto& one = round.emplace_back();
        one.instance = ready_.front();
        ready_.pop_front();
        auto& known = activities_[one.instance];
        known.is_queued = false;
        one.is_fresh = std::exchange(known.is_doubted, false);
        one.cached = frames_.take(one.instance);
    }
    if (round.empty()) return;
    const auto read = with_.where.read([&](store_reader& from) -> result<> {
        for (auto& one : round) POSTHORN_TRY(load_instance(from, one));
        return {};
    });
    if (!read) {
        with_.env.log.warn("Workflow: could not read what came: {Error}",
                           {{"Error", read.error().what()}});
        for (const auto& one : round)
            loop_.do_later(pause_after(0),
                           [this, instance = one.instance] { make_ready(instance); });
        report_.note_obstacle(unread, read.error().what());
        return;
    }
    report_.forget_obstacle(unread);
    for (auto& one : round) activate(std::move(one));
    if (!ready_.empty()) wake();
}

void engine::activate(loaded one) {
    if (one.next && one.next->is_end) return end_at_once(std::move(one));
    const bool is_new = one.row && one.row->status == instance_status::starting;
    const bool has_work = is_new || one.next || !one.works.empty();
    if (one.damage) {
        instance_row of = one.cached ? one.cached->of : one.row.value_or(instance_row{});
        of.instance = one.instance;
        return hold(one.instance, of, one.damage->what());
    }
    if (!has_work || (!one.cached && !one.row)) {
        if (one.cached) frames_.put(std::move(one.cached));
        activities_.erase(one.instance);
        return;
    }
    if (!one.cached && !build_frame(one)) return;
    for (const auto command : one.works)
        if (const auto found = one.cached->works.find(command); found != one.cached->works.end())
            works_.start(one.cached->of, command, found->second);
    if (is_new) {
        one.next = mail{.event = {.kind = detail::event_kind::start,
                                  .payload = one.cached->of.arguments,
                                  .state = one.cached->of.carried}};
    } else if (!one.next) {
        frames_.put(std::move(one.cached));
        activities_.erase(one.instance);
        return;
    }
    feed(std::move(one));
}

bool engine::build_frame(loaded& one) {
    auto& of = *one.row;
    const auto* const code = code_for(of);
    if (code == nullptr) {  // What came for it stays, and health tells.
        activities_.erase(one.instance);
        if (!report_.knows_missing(of)) look_over_soon();
        return false;
    }
    report_.code_runs(of);
    auto built = build_frame_of(*code, of, one.history);
    report_.code_waits();
    if (!built) {
        hold(one.instance, of, std::move(built.error()));
        return false;
    }
    one.cached = *std::move(built);
    if (one.cached->steps > 0) ++counts_.rebuilt;
    one.is_fresh = true;
    return true;
}

void engine::feed(loaded one) {
    auto& known = activities_[one.instance];
    auto what = *std::move(one.next);
    auto flying = std::make_shared<flight>();
    if (what.is_nudge) {
        flying->one = std::move(one.cached);
        flying->step.of = flying->one->of;
        flying->step.cause = what;
        return submit(flying, [instance = one.instance, what](store_transaction& tx) {
            return drop_mail(tx, instance, what);
        });
    }
    what.event.at = with_.env.clock.wall();
    detail::flow_step did;
    report_.code_runs(one.cached->of);
    const auto fit = one.cached->flow->feed(what.event, did);
    report_.code_waits();
    const auto of = one.cached->of;
    const auto next_step = one.cached->steps + 1;
    switch (fit) {
        case detail::event_fit::taken:
            if (did.status != flow_status::quarantined)
                return take_step(std::move(one.cached), std::move(what), std::move(did));
            // Once more from the history, in case it was the frame.
            if (!one.is_fresh) break;
            return hold(one.instance, of, fmt::format("step {}: {}", next_step, did.result));
        case detail::event_fit::stale:
            if (!one.is_fresh) break;
            return hold(
                one.instance, of,
                fmt::format("step {}: {} came for command {}, which the code has not made",
                            next_step, cause_text(what.event.kind, true), what.event.command));
        case detail::event_fit::ignored:
        case detail::event_fit::unfit: {
            ++counts_.ignored;
            const bool is_unfit = fit == detail::event_fit::unfit;
            if (is_unfit)
                with_.env.log.warn(
                    "Workflow {Workflow} {Id}: a signal is not what it says: {Error}",
                    {{"Workflow", of.workflow}, {"Id", of.id}, {"Error", did.result}});
            flying->one = std::move(one.cached);
            flying->step.of = of;
            flying->step.cause = what;
            return submit(flying, [instance = one.instance, what, is_unfit, why = did.result,
                                   &maker = with_.maker](store_transaction& tx) {
                return is_unfit ? refuse_signal(tx, instance, what, why, maker)
                                : drop_mail(tx, instance, what);
            });
        }
    }
    known.is_doubted = true;
    make_ready(one.instance);
}

void engine::take_step(std::unique_ptr<frame> one, mail cause, detail::flow_step did) {
    auto flying = std::make_shared<flight>();
    flying->writes_step = true;
    auto& step = flying->step;
    step.of = one->of;
    step.number = one->steps + 1;
    step.cause = std::move(cause);
    step.did = std::move(did);
    if (step.number > steps_max)
        return hold(step.of.instance, step.of,
                    fmt::format("step {}: a history has {} steps at most; let the code begin "
                                "another run before, with again",
                                step.number, steps_max));
    if (step.number == steps_warned)
        with_.env.log.warn(
            "Workflow {Workflow} {Id} has taken {Steps} steps; let it begin another "
            "run with again, or it is quarantined at 50000",
            {{"Workflow", step.of.workflow}, {"Id", step.of.id}, {"Steps", step.number}});
    if (const auto prepared = prepare_step(step, with_.maker, tracing(with_.env.traces)); !prepared)
        return hold(step.of.instance, step.of,
                    fmt::format("step {}: {}", step.number, prepared.error().what()));
    one->works.erase(step.cause.event.command);
    for (auto& command : step.did.commands) {
        one->made.add(command.kind);
        if (command.kind != detail::command_kind::run) continue;
        one->works[command.number] =
            std::make_shared<frame::work::element_type>(std::move(command.run));
        flying->new_works.push_back(command.number);
    }
    step.made = one->made;
    flying->one = std::move(one);
    submit_step(flying);
}

void engine::submit_step(const flight_ptr& flying) {
    submit(flying, [flying, &maker = with_.maker](store_transaction& tx) {
        return write_step(tx, flying->step, maker);
    });
}

void engine::submit(const flight_ptr& flying, unit_work work) {
    auto& known = activities_[flying->step.of.instance];
    known.is_busy = true;
    known.taking = flying->step.cause.seq;
    with_.where.submit(
        {.work = std::move(work), .done = [this, flying, gate = loop_.gate()](result<> end) {
             gate->post([this, flying, end = std::move(end)] { settled(flying, end); });
         }});
}

// --- After a commit ---

void engine::settled(const flight_ptr& flying, const result<>& outcome) {
    const auto& step = flying->step;
    const auto instance = step.of.instance;
    if (!outcome) {
        ++counts_.refused;
        if (POSTHORN_PLANTED(frame_kept_though_refused)) frames_.put(std::move(flying->one));
        if (step.bug)
            return hold(instance, step.of, fmt::format("step {}: {}", step.number, *step.bug));
        if (outcome.error().code() == error_code::cancelled && !step.refused.empty())
            return submit_step(flying);
        return tried_in_vain(step.of, outcome.error());
    }
    report_.forget_trouble(instance);
    auto one = std::move(flying->one);
    if (flying->writes_step) {
        ++counts_.steps;
        if (auto* const traces = tracing(with_.env.traces)) end_step_span(step, *traces);
        for (const auto& line : step.did.log)
            with_.env.log.info(
                "Workflow {Workflow} {Id}: {Text}",
                {{"Workflow", step.of.workflow}, {"Id", step.of.id}, {"Text", line}});
        const bool is_chosen = is_verified(++steps_unverified_, step.number, options_.verify_every);
        if (is_chosen && !step.did.next_run()) {
            steps_unverified_ = 0;
            if (!verify(*one, step.did.status)) return;
        }
        if (step.did.status != flow_status::running) {
            ++counts_.ended;
            ends_.note();
            activities_.erase(instance);
            return wake();  // It may have given signals back.
        }
        if (step.did.next_run() != nullptr) {  // It begins, and may have got signals.
            ++counts_.runs;
            activities_.erase(instance);
            make_ready(instance);
            return wake();
        }
        if (step.did.has_left || begins_others(step.did)) wake();
        one->steps = step.number;
        one->of.status = instance_status::running;
        one->of.arguments.clear();
        one->of.carried.clear();
        for (const auto command : flying->new_works)
            works_.start(one->of, command, one->works[command]);
    }
    go_on(std::move(one), std::move(flying->step.results));
}

/// Its own results lie in the mailbox, but need not be read from there unless others came too.
void engine::go_on(std::unique_ptr<frame> one, std::vector<mail> results) {
    const auto instance = one->of.instance;
    auto& known = activities_[instance];
    known.is_busy = false;
    known.failures = 0;
    const auto came = std::exchange(known.came, 0);
    if (results.size() == 1 && (came == 0 || came == results.front().seq))
        return feed(
            {.instance = instance, .cached = std::move(one), .next = std::move(results.front())});
    frames_.put(std::move(one));
    make_ready(instance);
    wake();
}

// The frame is gone: it has seen what was not stored.
void engine::tried_in_vain(const instance_row& of, const error& why) {
    auto& known = activities_[of.instance];
    known.is_busy = false;
    if (why.code() == error_code::closed) return;
    constexpr std::uint32_t races_max = 3;
    const auto failures = ++known.failures;
    if (why.code() == error_code::state_changed && failures <= races_max) {
        make_ready(of.instance);
        return wake();
    }
    with_.env.log.warn("Workflow {Workflow} {Id}: its step was not stored, will try again: {Error}",
                       {{"Workflow", of.workflow}, {"Id", of.id}, {"Error", why.what()}});
    report_.note_trouble(of, why.what());
    loop_.do_later(pause_after(failures), [this, instance = of.instance] { make_ready(instance); });
}

void engine::hold(std::int64_t instance, const instance_row& of, std::string reason) {
    with_.env.log.error("Workflow {Workflow} {Id} is quarantined: {Reason}",
                        {{"Workflow", of.workflow}, {"Id", of.id}, {"Reason", reason}});
    activities_[instance].is_busy = true;
    with_.where.submit(
        {.work = [instance, reason = std::move(reason)](
                     store_transaction& tx) { return quarantine(tx, instance, reason); },
         .done =
             [this, of, gate = loop_.gate()](result<> outcome) {
                 gate->post([this, of, outcome = std::move(outcome)] {
                     if (!outcome) return tried_in_vain(of, outcome.error());
                     ++counts_.quarantined;
                     ends_.note();
                     report_.forget_trouble(of.instance);
                     activities_.erase(of.instance);
                     look_over_soon();
                 });
             }});
}

/// False if the workflow is held for that.
bool engine::verify(const frame& one, flow_status as) {
    const auto of = one.of;
    report_.code_runs(of);
    auto differs = find_own_difference(with_.where, one);
    report_.code_waits();
    ++counts_.verified;
    if (!differs) return true;
    ++counts_.differed;
    if (as == flow_status::running) {
        hold(of.instance, of, *std::move(differs));
        return false;
    }
    report_.note_obstacle(unrecorded, fmt::format("{} {}: {}", of.workflow, of.id, *differs));
    with_.env.log.error(
        "Workflow {Workflow} {Id} has ended, and comes out otherwise when it is "
        "repeated: {Reason}",
        {{"Workflow", of.workflow}, {"Id", of.id}, {"Reason", *differs}});
    return true;
}

void engine::end_at_once(loaded one) {
    instance_row of = one.cached ? one.cached->of : one.row.value_or(instance_row{});
    of.instance = one.instance;
    activities_[one.instance].is_busy = true;
    with_.where.submit({.work =
                            [what = *one.next, instance = one.instance, &time = with_.env.clock,
                             &maker = with_.maker](store_transaction& tx) {
                                return terminate(tx, instance, what, time.wall(), maker);
                            },
                        .done =
                            [this, of, gate = loop_.gate()](result<> outcome) {
                                gate->post([this, of, outcome = std::move(outcome)] {
                                    if (!outcome) return tried_in_vain(of, outcome.error());
                                    ++counts_.ended;
                                    ends_.note();
                                    report_.forget_trouble(of.instance);
                                    activities_.erase(of.instance);
                                    wake();  // It may have children, and others may wait for it.
                                });
                            }});
}

}  // namespace posthorn
