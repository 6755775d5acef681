#include "workflow/flow_world.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "workflow/matching.hpp"

namespace posthorn::detail {
namespace {

constexpr std::size_t steps_a_run = 10'000;
constexpr std::size_t steps_in_all = 100'000;
// Building a run again after each step costs the square of its length, so long ones are looked at
// now and then.
constexpr std::size_t compared_each_max = 200;
constexpr std::size_t compared_every = 1'000;

/// Of the others nothing comes.
bool is_awaited(command_kind one) noexcept {
    return one != command_kind::patch && one != command_kind::again && one != command_kind::start &&
           one != command_kind::answer;
}

}  // namespace

uuid test_run_id(std::size_t run) {
    return uuid({0x01, 0x9b, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0,
                 static_cast<std::uint8_t>(run >> 8U), static_cast<std::uint8_t>(run)});
}

std::unique_ptr<flow_base> built_from(const tested_code& code, std::span<const std::string> rows) {
    std::vector<recorded_step> steps;
    steps.reserve(rows.size());
    for (const auto& row : rows) steps.push_back(*parse_row(row));
    flow_step scratch;
    auto same = rebuild(*code.entry, test_run_id(code.run), steps, scratch);
    if (!same)
        throw flow_test_failed("the workflow did something else when it was repeated, " +
                               same.error());
    for (const auto& each : code.unpatched) (*same)->leave_unpatched(each);
    return *std::move(same);
}

void flow_world::take(flow_event event, const trouble& with) {
    take_alone(std::move(event), with);
    settle({});
}

void flow_world::advance_to(wall_time until) {
    for (;;) {
        const auto* const next = next_due();
        if (next == nullptr || next->due > until) break;
        now = std::max(now, next->due);
        take({.kind = event_kind::elapsed, .command = next->number});
    }
    now = std::max(now, until);
}

void flow_world::tell(told_signal what, const trouble& with) {
    if (status != flow_status::running) {
        if (what.request != 0) answers[what.request] = {"the workflow has ended", true};
        return;
    }
    unclaimed.push_back(std::move(what));
    settle(with);
}

std::uint32_t flow_world::open_for(const test_input& answer) const {
    for (const auto& [number, command] : open)
        if (command.made.kind == answer.to_kind && command.name == answer.name &&
            command.payload == answer.payload && command.id == answer.id)
            return number;
    return 0;
}

void flow_world::take_alone(flow_event event, const trouble& with) {
    if (status != flow_status::running) return;
    event.at = now;
    if (with.commit_fails) {
        static_cast<void>(frame_->feed(event, step_));
        frame_ = built_from(code_, rows);
    }
    const auto fit = frame_->feed(event, step_);
    if (fit == event_fit::unfit) {
        log.push_back(fmt::format("a signal does not fit: {}", step_.result));
        if (given_.request != 0) answers[given_.request] = {step_.result, true};
    }
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
    if (with.comes_twice) {
        flow_step none;
        if (frame_->feed(event, none) == event_fit::taken)
            throw flow_test_failed("an event that came twice was taken twice");
    }
    if (step_.next_run() != nullptr) begin_next_run();
}

/// What was recorded is left behind, and so is all that was open.
void flow_world::begin_next_run() {
    const auto& next = *step_.next_run();
    const auto* const tested = named_workflow::find(code_.entry->function());
    if (tested != nullptr && tested->name() != next.name)
        throw flow_test_failed(
            fmt::format("{} goes on as {}; a run is followed by one of the same name",
                        tested->name(), next.name));
    code_ = {.entry = next.code, .run = code_.run + 1};
    next_start_ = flow_event{
        .kind = event_kind::start, .payload = std::string(step_.of(next.payload)), .state = state};
    rows.clear();
    open.clear();
    frame_ = built_from(code_, {});
    for (auto& [number, each] : unanswered_) unclaimed.insert(unclaimed.begin(), std::move(each));
    unanswered_.clear();
}

void flow_world::commit(const flow_event& event) {
    if (rows.size() == steps_a_run || ++steps_ > steps_in_all)
        throw flow_test_failed(fmt::format("the workflow has taken {} steps; does it end?",
                                           std::max(rows.size(), steps_ - 1)));
    rows.push_back(to_row(record(event, step_)));
    if (const auto ended = open.find(event.command); ended != open.end()) {
        children_.erase(fmt::format("{} {}", ended->second.name, ended->second.id));
        open.erase(ended);
    }
    for (auto& command : step_.commands) {
        const auto named = fmt::format("{} {}", command.name, step_.of(command.id));
        if (command.kind == command_kind::start) started.push_back(named);
        if (command.kind == command_kind::child) children_[named] = command.fate;
        if (!is_awaited(command.kind)) continue;
        const auto number = command.number;
        open.emplace(number, open_command{.name = std::string(command.name),
                                          .payload = std::string(step_.of(command.payload)),
                                          .id = std::string(step_.of(command.id)),
                                          .made = std::move(command)});
    }
    for (const auto number : step_.dropped) open.erase(number);
    if (step_.state) state = step_.of(*step_.state);
    log.insert(log.end(), step_.log.begin(), step_.log.end());
    status = step_.status;
    result = step_.result;
    note_requests(event);
    if (step_.has_left) leave_children();
    if (status == flow_status::running) return;
    open.clear();
    leave_requests();
}

void flow_world::note_requests(const flow_event& event) {
    if (event.kind == event_kind::signalled && given_.request != 0)
        unanswered_[event.command] = given_;
    for (const auto& command : step_.commands) {
        if (command.kind != command_kind::answer) continue;
        const auto to = unanswered_.find(command.request);
        answers[to->second.request] = {std::string(step_.of(command.payload)), command.is_refusal};
        unanswered_.erase(to);
    }
}

void flow_world::leave_requests() {
    for (const auto& [number, each] : unanswered_)
        answers[each.request] = {"the workflow has ended without an answer", true};
    unanswered_.clear();
}

void flow_world::leave_children() {
    for (const auto& [named, fate] : children_)
        if (fate != child_fate::abandon)
            fates.push_back((fate == child_fate::cancel ? "cancel " : "terminate ") + named);
    children_.clear();
}

/// Signals that are there come to those who wait for them, and sleeps that are over end.
void flow_world::settle(trouble with) {
    for (auto next = next_by_itself(); next; next = next_by_itself())
        take_alone(*std::move(next), std::exchange(with, {}));
}

std::optional<flow_event> flow_world::next_by_itself() {
    if (status != flow_status::running) return {};
    if (next_start_) return std::exchange(next_start_, {});
    for (auto signal = unclaimed.begin(); signal != unclaimed.end(); ++signal) {
        const auto number = waiting_for(*signal);
        if (number == 0) continue;
        given_ = std::move(*signal);
        unclaimed.erase(signal);
        return flow_event{
            .kind = event_kind::signalled, .command = number, .payload = given_.payload};
    }
    const auto* const sleep = next_due();
    if (sleep == nullptr || sleep->due > now) return {};
    return flow_event{.kind = event_kind::elapsed, .command = sleep->number};
}

/// The oldest wait that a signal fits; zero if there is none.
std::uint32_t flow_world::waiting_for(const told_signal& signal) const {
    for (const auto& [number, command] : open) {
        const auto kind = signal.request != 0 ? command_kind::receive : command_kind::wait;
        if (command.made.kind != kind || command.name != signal.name) continue;
        const auto wanted = key_of(*parse_terms(command.payload));
        if (key_in(wanted.shape, signal.payload) == wanted.key &&
            passes(wanted.filter, signal.payload))
            return number;
    }
    return 0;
}

const flow_command* flow_world::next_due() const {
    const flow_command* next = nullptr;
    for (const auto& [number, command] : open)
        if (command.made.kind == command_kind::sleep &&
            (next == nullptr || command.made.due < next->due))
            next = &command.made;
    return next;
}

}  // namespace posthorn::detail
