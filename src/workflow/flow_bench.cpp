#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <posthorn/flow_test.hpp>

#include "base/random.hpp"
#include "workflow/flow_world.hpp"
#include "workflow/matching.hpp"

namespace posthorn::detail {
namespace {

bool is_at(std::string_view name, std::string_view endpoint) {
    return name == endpoint || (name.ends_with(endpoint) &&
                                name.substr(0, name.size() - endpoint.size()).ends_with('/'));
}

flow_event event_of(const recorded_step& step) {
    return {.kind = step.cause,
            .command = step.command,
            .may_have_taken_effect = step.may_have_taken_effect,
            .at = wall_time(std::chrono::milliseconds(step.at_ms)),
            .payload = step.payload,
            .state = state_carried(step)};
}

}  // namespace

flow_bench::flow_bench(std::unique_ptr<workflow_entry> code, std::string arguments)
    : code_(std::move(code)),
      arguments_(std::move(arguments)),
      world_(std::make_unique<flow_world>(tested_code{code_.get()})) {
    world_->take({.kind = event_kind::start, .payload = arguments_});
}

flow_bench::~flow_bench() = default;

void flow_bench::leave_unpatched(std::string_view name) {
    if (!script_.empty())
        throw flow_test_failed("without_patch comes first, before anything happens in the test");
    unpatched_.emplace_back(name);
    world_ = std::make_unique<flow_world>(tested_code{code_.get(), unpatched_});
    world_->take({.kind = event_kind::start, .payload = arguments_});
}

std::uint32_t flow_bench::expect_call(std::string_view endpoint) {
    auto* const found = world_->find([&](const flow_world::open_command& each) {
        return each.made.kind == command_kind::call && is_at(each.name, endpoint);
    });
    if (found == nullptr)
        throw flow_test_failed(fmt::format("the workflow has no open call to {}; it waits for: {}",
                                           endpoint, fmt::join(waits_for(), "; ")));
    found->is_expected = true;
    return found->made.number;
}

std::uint32_t flow_bench::expect_work(command_kind kind) {
    auto* const found =
        world_->find([&](const flow_world::open_command& each) { return each.made.kind == kind; });
    if (found == nullptr)
        throw flow_test_failed(fmt::format("the workflow has no open {}; it waits for: {}",
                                           in_words({.kind = kind}), fmt::join(waits_for(), "; ")));
    found->is_expected = true;
    return found->made.number;
}

std::uint32_t flow_bench::expect_end(std::string_view name, std::string_view id) {
    auto* const found = world_->find([&](const flow_world::open_command& each) {
        const bool is_other =
            each.made.kind == command_kind::child || each.made.kind == command_kind::attach;
        return is_other && each.name == name && (id.empty() || each.id == id);
    });
    if (found == nullptr)
        throw flow_test_failed(
            fmt::format("the workflow does not wait for the end of {}{}{}; it "
                        "waits for: {}",
                        name, id.empty() ? "" : " ", id, fmt::join(waits_for(), "; ")));
    found->is_expected = true;
    return found->made.number;
}

std::string flow_bench::id_of(std::uint32_t command) const { return world_->open.at(command).id; }

std::string flow_bench::payload_of(std::uint32_t command) const {
    return world_->open.at(command).payload;
}

std::string flow_bench::do_transact(std::uint32_t command, transaction& in) const {
    return world_->open.at(command).made.transact(in);
}

std::string flow_bench::do_run(std::uint32_t command) const {
    return world_->open.at(command).made.run(test_run_id(world_->code().run));
}

void flow_bench::answer(std::uint32_t command, event_kind how, std::string payload,
                        bool may_have_taken_effect) {
    const auto found = world_->open.find(command);
    if (found == world_->open.end())
        throw flow_test_failed(fmt::format("command {} is answered already", command));
    put({.what = test_input::kind::answer,
         .name = found->second.name,
         .payload = found->second.payload,
         .id = found->second.id,
         .to_kind = found->second.made.kind,
         .event = {.kind = how,
                   .command = command,
                   .may_have_taken_effect = may_have_taken_effect,
                   .payload = std::move(payload)}});
}

void flow_bench::signal(std::string_view name, std::string payload) {
    put({.what = test_input::kind::signal,
         .name = std::string(name),
         .payload = std::move(payload)});
}

std::size_t flow_bench::request(std::string_view name, std::string payload) {
    const auto number = ++requests_;
    put({.what = test_input::kind::request,
         .name = std::string(name),
         .payload = std::move(payload),
         .request = number});
    return number;
}

bool flow_bench::is_answered(std::size_t request) const {
    return world_->answers.contains(request);
}

std::string flow_bench::answer_to(std::size_t request, bool as_refusal) const {
    const auto found = world_->answers.find(request);
    if (found == world_->answers.end())
        throw flow_test_failed(
            fmt::format("the Command is not answered yet; the workflow waits "
                        "for: {}",
                        fmt::join(waits_for(), "; ")));
    if (found->second.is_refusal != as_refusal)
        throw flow_test_failed(fmt::format(
            "the Command was {}: {}", as_refusal ? "answered" : "refused", found->second.payload));
    return found->second.payload;
}

void flow_bench::advance(std::chrono::milliseconds by) {
    put({.what = test_input::kind::advance, .time = by});
}

void flow_bench::cancel(std::string reason) {
    put({.what = test_input::kind::cancel, .payload = std::move(reason)});
}

void flow_bench::put(test_input given) {
    switch (given.what) {
        case test_input::kind::answer: world_->take(given.event); break;
        case test_input::kind::signal: world_->tell({given.name, given.payload, 0}); break;
        case test_input::kind::request:
            world_->tell({given.name, given.payload, given.request});
            break;
        case test_input::kind::advance: world_->advance_to(later(world_->now, given.time)); break;
        case test_input::kind::cancel:
            world_->take({.kind = event_kind::cancel, .payload = given.payload});
            break;
    }
    script_.push_back(std::move(given));
}

void flow_bench::crash_everywhere() const {
    const std::span<const std::string> rows(world_->rows);
    for (std::size_t crash = 0; crash < rows.size(); ++crash) {
        // The commit of this step is lost: the code has run, and all that it did is gone.
        const auto& code = world_->code();
        static_cast<void>(built_from(code, rows.first(crash + 1)));
        const auto frame = built_from(code, rows.first(crash));
        flow_step step;
        for (std::size_t at = crash; at < rows.size(); ++at) {
            const auto recorded = *parse_row(rows[at]);
            const auto event = event_of(recorded);
            if (frame->feed(event, step) != event_fit::taken)
                throw flow_test_failed(fmt::format(
                    "after a crash at step {} the workflow does not wait for what came at step {}",
                    crash + 1, at + 1));
            if (const auto difference = find_difference(at + 1, recorded, record(event, step)))
                throw flow_test_failed(
                    fmt::format("after a crash at step {}, {}", crash + 1, *difference));
        }
    }
}

void flow_bench::explore(std::size_t runs, const std::function<void()>& check) {
    for (std::size_t seed = 1; seed <= runs; ++seed) {
        auto kept = std::exchange(
            world_, std::make_unique<flow_world>(tested_code{code_.get(), unpatched_}));
        try {
            run_otherwise(seed);
            if (check) check();
        } catch (const std::exception& wrong) {
            world_ = std::move(kept);
            throw flow_test_failed(fmt::format("in run {} of explore: {}", seed, wrong.what()));
        }
        world_ = std::move(kept);
    }
}

void flow_bench::run_otherwise(std::uint64_t seed) {
    seeded_random chance(seed);
    const auto trouble_now = [&] {
        return trouble{.commit_fails = chance.below(4) == 0,
                       .crashes_after = chance.below(4) == 0,
                       .comes_twice = chance.below(4) == 0};
    };
    world_->take({.kind = event_kind::start, .payload = arguments_}, trouble_now());
    std::vector<const test_input*> waiting;  // What was told by now, and can come at any moment.
    const auto let_some_come = [&] {
        for (;;) {
            std::vector<const test_input*> possible;
            std::set<std::string_view> told;  // Signals of one kind keep their order.
            for (const auto* each : waiting) {
                const bool is_told = each->what != test_input::kind::answer;
                if (is_told && !told.insert(each->name).second) continue;
                if (is_told || world_->open_for(*each) != 0) possible.push_back(each);
            }
            if (possible.empty() || world_->status != flow_status::running) return;
            const auto* const next = possible[chance.below(possible.size())];
            std::erase(waiting, next);
            if (next->what != test_input::kind::answer) {
                world_->tell({next->name, next->payload, next->request}, trouble_now());
            } else {
                auto event = next->event;
                event.command = world_->open_for(*next);
                world_->take(std::move(event), trouble_now());
            }
        }
    };
    for (const auto& each : script_) {
        if (each.what != test_input::kind::advance && each.what != test_input::kind::cancel) {
            waiting.push_back(&each);
            continue;
        }
        let_some_come();  // Time passes, and a cancellation comes, when they did.
        if (each.what == test_input::kind::advance)
            world_->advance_to(later(world_->now, each.time));
        else
            world_->take({.kind = event_kind::cancel, .payload = each.payload}, trouble_now());
    }
    let_some_come();
}

std::vector<std::string> flow_bench::started() const { return world_->started; }
std::vector<std::string> flow_bench::fates() const { return world_->fates; }
std::size_t flow_bench::run() const { return world_->code().run; }
flow_status flow_bench::status() const { return world_->status; }

const std::string& flow_bench::result(flow_status as) const {
    if (world_->status == as) return world_->result;
    if (world_->status == flow_status::running)
        throw flow_test_failed(fmt::format("the workflow is not over; it waits for: {}",
                                           fmt::join(waits_for(), "; ")));
    throw flow_test_failed(fmt::format(
        "the workflow is {}: {}", decode<std::string>(encode(world_->status)), world_->result));
}

const std::string& flow_bench::state() const { return world_->state; }
wall_time flow_bench::now() const { return world_->now; }
std::vector<std::string> flow_bench::log() const { return world_->log; }

std::vector<std::string> flow_bench::history() const {
    std::vector<std::string> lines;
    for (const auto& row : world_->rows) {
        const auto step = *parse_row(row);
        auto& line = lines.emplace_back(
            fmt::format("{} {}", lines.size() + 1, decode<std::string>(encode(step.cause))));
        if (step.command != 0) line += fmt::format(" {}", step.command);
        for (const auto& command : step.commands)
            line += (&command == step.commands.data() ? ": " : ", ") + in_words(command);
    }
    return lines;
}

std::vector<std::string> flow_bench::waits_for() const {
    std::vector<std::string> words;
    for (const auto& [number, command] : world_->open) switch (command.made.kind) {
            case command_kind::call: words.push_back("the response to " + command.name); break;
            case command_kind::wait:
            case command_kind::receive:
                words.push_back(in_words(command.name, *parse_terms(command.payload)));
                break;
            case command_kind::sleep: words.push_back(to_iso8601(command.made.due)); break;
            case command_kind::transact: words.emplace_back("what transact gives"); break;
            case command_kind::run: words.emplace_back("what run gives"); break;
            case command_kind::child:
            case command_kind::attach:
                words.push_back(fmt::format("the end of {} {}", command.name, command.id));
                break;
            case command_kind::patch:
            case command_kind::again:
            case command_kind::start:
            case command_kind::answer: break;
        }
    return words;
}

}  // namespace posthorn::detail
