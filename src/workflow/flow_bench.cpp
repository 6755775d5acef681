#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <posthorn/flow_test.hpp>

#include "base/random.hpp"
#include "workflow/history.hpp"
#include "workflow/matching.hpp"

namespace posthorn::detail {
namespace {

constexpr wall_time start_time{std::chrono::milliseconds{1'767'225'600'000}};  // 2026-01-01
constexpr std::size_t steps_max = 10'000;
// Building a run again after each step costs the square of its length, so long ones are looked at
// now and then.
constexpr std::size_t compared_each_max = 200;
constexpr std::size_t compared_every = 1'000;

uuid run_id() { return uuid({0x01, 0x9b, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}); }

bool is_at(std::string_view name, std::string_view endpoint) {
    return name == endpoint || (name.ends_with(endpoint) &&
                                name.substr(0, name.size() - endpoint.size()).ends_with('/'));
}

flow_event event_of(const recorded_step& step) {
    return {.kind = step.cause,
            .command = step.command,
            .may_have_taken_effect = step.may_have_taken_effect,
            .at = wall_time(std::chrono::milliseconds(step.at_ms)),
            .payload = step.payload};
}

/// The workflow under test, and the patches that its run had passed by before.
struct tested_code {
    const workflow_entry& entry;
    std::span<const std::string> unpatched{};
};

/// The run that rows tell of; each of its steps has to come out as it was.
std::unique_ptr<flow_base> built_from(const tested_code& code, std::span<const std::string> rows) {
    std::vector<recorded_step> steps;
    steps.reserve(rows.size());
    for (const auto& row : rows) steps.push_back(*parse_row(row));
    flow_step scratch;
    auto same = rebuild(code.entry, run_id(), steps, scratch);
    if (!same)
        throw flow_test_failed("the workflow did something else when it was repeated, " +
                               same.error());
    for (const auto& each : code.unpatched) (*same)->leave_unpatched(each);
    return *std::move(same);
}

/// What goes wrong around one event.
struct trouble {
    bool commit_fails = false;  // Its step is lost, and the event comes again.
    bool crashes_after = false;
    bool comes_twice = false;
};

}  // namespace

/// What the test told the workflow, so that it can be told again.
struct flow_bench::input {
    enum class kind : std::uint8_t { answer, signal, advance, cancel };
    kind what{};
    std::string name{};     // Of the call or the signal.
    std::string payload{};  // Of the call or the signal; why it is cancelled.
    command_kind to_kind{};
    flow_event event{};  // Of the answer.
    std::chrono::milliseconds time{};
};

/// One run of the workflow and all that an engine keeps of it.
class flow_bench::world {
public:
    struct open_command {
        std::string name;
        std::string payload;
        flow_command made;
        bool is_expected = false;
    };

    explicit world(const tested_code& code) : code_(code), frame_(built_from(code, {})) {}

    /// One event, and then what can happen by itself.
    void take(flow_event event, const trouble& with = {}) {
        take_alone(std::move(event), with);
        settle({});
    }

    void advance_to(wall_time until) {
        for (;;) {
            const auto* const next = next_due();
            if (next == nullptr || next->due > until) break;
            now = std::max(now, next->due);
            take({.kind = event_kind::elapsed, .command = next->number});
        }
        now = std::max(now, until);
    }

    void tell(std::string name, std::string payload, const trouble& with = {}) {
        if (status != flow_status::running) return;
        unclaimed.emplace_back(std::move(name), std::move(payload));
        settle(with);
    }

    /// The command that an answer is for; zero if it is not open.
    [[nodiscard]] std::uint32_t open_for(const input& answer) const {
        for (const auto& [number, command] : open)
            if (command.made.kind == answer.to_kind && command.name == answer.name &&
                command.payload == answer.payload)
                return number;
        return 0;
    }

    [[nodiscard]] open_command* find(const auto& is_meant) {
        for (auto& [number, command] : open)
            if (!command.is_expected && is_meant(command)) return &command;
        return nullptr;
    }

    std::vector<std::string> rows;
    std::map<std::uint32_t, open_command> open;
    std::vector<std::pair<std::string, std::string>> unclaimed;  // Signals: name, payload.
    std::vector<std::string> log;
    wall_time now = start_time;
    flow_status status = flow_status::running;
    std::string result;
    std::string state;

private:
    void take_alone(flow_event event, const trouble& with) {
        if (status != flow_status::running) return;
        event.at = now;
        if (with.commit_fails) {
            static_cast<void>(frame_->feed(event, step_));
            frame_ = built_from(code_, rows);
        }
        const auto fit = frame_->feed(event, step_);
        if (fit == event_fit::unfit)
            log.push_back(fmt::format("a signal does not fit: {}", step_.result));
        if (fit != event_fit::taken) return;
        if (step_.status == flow_status::quarantined) {
            status = step_.status;
            result = step_.result;
            open.clear();
            return;
        }
        commit(event);
        if (rows.size() <= compared_each_max || rows.size() % compared_every == 0) {
            auto same = built_from(code_, rows);
            if (with.crashes_after) frame_ = std::move(same);
        }
        if (with.comes_twice && frame_->feed(event, step_) == event_fit::taken)
            throw flow_test_failed("an event that came twice was taken twice");
    }

    void commit(const flow_event& event) {
        if (rows.size() == steps_max)
            throw flow_test_failed(
                fmt::format("the workflow has taken {} steps; does it end?", steps_max));
        rows.push_back(to_row(record(event, step_)));
        open.erase(event.command);
        for (auto& command : step_.commands) {
            if (command.kind == command_kind::patch) continue;  // Nothing comes of it.
            const auto number = command.number;
            open.emplace(number, open_command{.name = std::string(command.name),
                                              .payload = std::string(step_.of(command.payload)),
                                              .made = std::move(command)});
        }
        for (const auto number : step_.dropped) open.erase(number);
        if (step_.state) state = step_.of(*step_.state);
        log.insert(log.end(), step_.log.begin(), step_.log.end());
        status = step_.status;
        result = step_.result;
        if (status != flow_status::running) open.clear();
    }

    /// Signals that are there come to those who wait for them, and sleeps that are over end.
    void settle(trouble with) {
        for (auto next = next_by_itself(); next; next = next_by_itself())
            take_alone(*std::move(next), std::exchange(with, {}));
    }

    [[nodiscard]] std::optional<flow_event> next_by_itself() {
        if (status != flow_status::running) return {};
        for (auto signal = unclaimed.begin(); signal != unclaimed.end(); ++signal) {
            const auto number = waiting_for(*signal);
            if (number == 0) continue;
            flow_event event{.kind = event_kind::signalled,
                             .command = number,
                             .payload = std::move(signal->second)};
            unclaimed.erase(signal);
            return event;
        }
        const auto* const sleep = next_due();
        if (sleep == nullptr || sleep->due > now) return {};
        return flow_event{.kind = event_kind::elapsed, .command = sleep->number};
    }

    /// The oldest wait that a signal fits; zero if there is none.
    [[nodiscard]] std::uint32_t waiting_for(
        const std::pair<std::string, std::string>& signal) const {
        for (const auto& [number, command] : open) {
            if (command.made.kind != command_kind::wait || command.name != signal.first) continue;
            const auto wanted = key_of(*parse_terms(command.payload));
            if (key_in(wanted.shape, signal.second) == wanted.key &&
                passes(wanted.filter, signal.second))
                return number;
        }
        return 0;
    }

    [[nodiscard]] const flow_command* next_due() const {
        const flow_command* next = nullptr;
        for (const auto& [number, command] : open)
            if (command.made.kind == command_kind::sleep &&
                (next == nullptr || command.made.due < next->due))
                next = &command.made;
        return next;
    }

    tested_code code_;
    std::unique_ptr<flow_base> frame_;
    flow_step step_;
};

flow_bench::flow_bench(std::unique_ptr<workflow_entry> code, std::string arguments)
    : code_(std::move(code)),
      arguments_(std::move(arguments)),
      world_(std::make_unique<world>(tested_code{*code_})) {
    world_->take({.kind = event_kind::start, .payload = arguments_});
}

flow_bench::~flow_bench() = default;

void flow_bench::leave_unpatched(std::string_view name) {
    if (!script_.empty())
        throw flow_test_failed("without_patch comes first, before anything happens in the test");
    unpatched_.emplace_back(name);
    world_ = std::make_unique<world>(tested_code{*code_, unpatched_});
    world_->take({.kind = event_kind::start, .payload = arguments_});
}

std::uint32_t flow_bench::expect_call(std::string_view endpoint) {
    auto* const found = world_->find([&](const world::open_command& each) {
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
        world_->find([&](const world::open_command& each) { return each.made.kind == kind; });
    if (found == nullptr)
        throw flow_test_failed(fmt::format("the workflow has no open {}; it waits for: {}",
                                           in_words({.kind = kind}), fmt::join(waits_for(), "; ")));
    found->is_expected = true;
    return found->made.number;
}

std::string flow_bench::payload_of(std::uint32_t command) const {
    return world_->open.at(command).payload;
}

std::string flow_bench::do_transact(std::uint32_t command, transaction& in) const {
    return world_->open.at(command).made.transact(in);
}

std::string flow_bench::do_run(std::uint32_t command) const {
    return world_->open.at(command).made.run(run_id());
}

void flow_bench::answer(std::uint32_t command, event_kind how, std::string payload,
                        bool may_have_taken_effect) {
    const auto found = world_->open.find(command);
    if (found == world_->open.end())
        throw flow_test_failed(fmt::format("command {} is answered already", command));
    put({.what = input::kind::answer,
         .name = found->second.name,
         .payload = found->second.payload,
         .to_kind = found->second.made.kind,
         .event = {.kind = how,
                   .command = command,
                   .may_have_taken_effect = may_have_taken_effect,
                   .payload = std::move(payload)}});
}

void flow_bench::signal(std::string_view name, std::string payload) {
    put({.what = input::kind::signal, .name = std::string(name), .payload = std::move(payload)});
}

void flow_bench::advance(std::chrono::milliseconds by) {
    put({.what = input::kind::advance, .time = by});
}

void flow_bench::cancel(std::string reason) {
    put({.what = input::kind::cancel, .payload = std::move(reason)});
}

void flow_bench::put(input given) {
    switch (given.what) {
        case input::kind::answer: world_->take(given.event); break;
        case input::kind::signal: world_->tell(given.name, given.payload); break;
        case input::kind::advance: world_->advance_to(later(world_->now, given.time)); break;
        case input::kind::cancel:
            world_->take({.kind = event_kind::cancel, .payload = given.payload});
            break;
    }
    script_.push_back(std::move(given));
}

void flow_bench::crash_everywhere() const {
    const std::span<const std::string> rows(world_->rows);
    for (std::size_t crash = 0; crash < rows.size(); ++crash) {
        // The commit of this step is lost: the code has run, and all that it did is gone.
        const tested_code code{*code_, unpatched_};
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
        auto kept = std::exchange(world_, std::make_unique<world>(tested_code{*code_, unpatched_}));
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
    std::vector<const input*> waiting;  // What was told by now, and can come at any moment.
    const auto let_some_come = [&] {
        for (;;) {
            std::vector<const input*> possible;
            std::set<std::string_view> told;  // Signals of one kind keep their order.
            for (const auto* each : waiting) {
                if (each->what == input::kind::signal && !told.insert(each->name).second) continue;
                if (each->what == input::kind::signal || world_->open_for(*each) != 0)
                    possible.push_back(each);
            }
            if (possible.empty() || world_->status != flow_status::running) return;
            const auto* const next = possible[chance.below(possible.size())];
            std::erase(waiting, next);
            if (next->what == input::kind::signal) {
                world_->tell(next->name, next->payload, trouble_now());
            } else {
                auto event = next->event;
                event.command = world_->open_for(*next);
                world_->take(std::move(event), trouble_now());
            }
        }
    };
    for (const auto& each : script_) {
        if (each.what == input::kind::answer || each.what == input::kind::signal) {
            waiting.push_back(&each);
            continue;
        }
        let_some_come();  // Time passes, and a cancellation comes, when they did.
        if (each.what == input::kind::advance)
            world_->advance_to(later(world_->now, each.time));
        else
            world_->take({.kind = event_kind::cancel, .payload = each.payload}, trouble_now());
    }
    let_some_come();
}

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
                words.push_back(in_words(command.name, *parse_terms(command.payload)));
                break;
            case command_kind::sleep: words.push_back(to_iso8601(command.made.due)); break;
            case command_kind::transact: words.emplace_back("what transact gives"); break;
            case command_kind::run: words.emplace_back("what run gives"); break;
            case command_kind::patch: break;
        }
    return words;
}

}  // namespace posthorn::detail
