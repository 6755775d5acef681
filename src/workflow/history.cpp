#include "workflow/history.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <posthorn/json/decode.hpp>

#include "base/checksum.hpp"

namespace posthorn {
namespace {

using detail::command_kind;
using detail::event_fit;

std::int64_t sum_of(const detail::flow_command& command, const detail::flow_step& step) {
    checksum sum;
    sum.add(step.of(command.payload));
    sum.add(command.undo_name);
    sum.add(step.of(command.undo));
    sum.add(std::int64_t{command.due.time_since_epoch().count()});
    sum.add(std::uint64_t{command.undoes} << 1U | std::uint64_t{command.exclusive});
    sum.add(command.options.order_key);
    sum.add(command.options.tenant);
    if (command.kind >= command_kind::child) {  // Those before have the sums of older programs.
        sum.add(step.of(command.id));
        sum.add(static_cast<std::uint64_t>(command.fate));
        sum.add(std::uint64_t{command.request} << 1U | std::uint64_t{command.is_refusal});
    }
    return sum.value();
}

/// What the code does now: `calls billing/v1/Charge`.
std::string now_does(const recorded_command& command) {
    switch (command.kind) {
        case command_kind::call: return "calls " + command.name;
        case command_kind::wait: return "waits for " + command.name;
        case command_kind::sleep: return "sleeps";
        case command_kind::transact: return "calls transact";
        case command_kind::patch: return "has the patch " + command.name;
        case command_kind::again: return "begins another run";
        case command_kind::child: return "begins the child " + command.name;
        case command_kind::start: return "starts " + command.name;
        case command_kind::attach: return "waits for the end of " + command.name;
        case command_kind::receive: return "receives " + command.name;
        case command_kind::answer: return "answers " + command.name;
        case command_kind::run: break;
    }
    return "calls run";
}

std::string_view what_differs(const recorded_command& command) {
    switch (command.kind) {
        case command_kind::call: return "with another payload or other options";
        case command_kind::wait:
        case command_kind::receive: return "with other comparisons";
        case command_kind::answer: return "with another payload, or another one";
        case command_kind::again: return "with other arguments";
        case command_kind::child:
        case command_kind::start: return "with another id, other arguments or another fate";
        case command_kind::attach: return "of another id";
        case command_kind::sleep: return "until another time";
        case command_kind::transact:
        case command_kind::run:
        case command_kind::patch: break;
    }
    return "otherwise";
}

std::string numbers(const std::vector<std::uint32_t>& list) {
    return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

std::optional<std::string> find_other_command(std::size_t number, const recorded_step& recorded,
                                              const recorded_step& repeated) {
    const auto [was, is] = std::ranges::mismatch(recorded.commands, repeated.commands);
    const bool had_more = was != recorded.commands.end();
    const bool has_more = is != repeated.commands.end();
    if (!had_more && !has_more) return {};
    if (!has_more)
        return fmt::format("step {}: recorded {}, the code now does not", number, in_words(*was));
    if (!had_more)
        return fmt::format("step {}: recorded no further command, the code now {}", number,
                           now_does(*is));
    if (was->kind == is->kind && was->name == is->name)
        return fmt::format("step {}: recorded {}, the code now {} {}", number, in_words(*was),
                           now_does(*is), what_differs(*is));
    return fmt::format("step {}: recorded {}, the code now {}", number, in_words(*was),
                       now_does(*is));
}

std::vector<std::string> fields_of(const raw_json& state) {
    std::vector<std::string> names;
    try {
        for (auto& [name, value] : decode<std::map<std::string, raw_json>>(state.text))
            names.push_back(name);
    } catch (const error&) {  // Not an object; it has none.
        names.clear();
    }
    return names;
}

/// Without what is in them, which is payload.
std::string_view how_states_differ(const std::optional<raw_json>& recorded,
                                   const std::optional<raw_json>& repeated) {
    if (!recorded) return "no change of the state, the code now changes it";
    if (!repeated) return "a change of the state, the code now leaves it as it was";
    if (fields_of(*recorded) != fields_of(*repeated))
        return "a state, the code now has one with other fields";
    return "a state, the code now has another";
}

}  // namespace

recorded_step record(const detail::flow_event& event, const detail::flow_step& step) {
    recorded_step made{.cause = event.kind,
                       .command = event.command,
                       .may_have_taken_effect = event.may_have_taken_effect,
                       .at_ms = event.at.time_since_epoch().count(),
                       .payload = event.payload,
                       .dropped = step.dropped,
                       .status = step.status,
                       .result = step.result};
    if (!event.state.empty()) made.carried = raw_json{event.state};
    made.commands.reserve(step.commands.size());
    for (const auto& command : step.commands)
        made.commands.push_back({command.kind, std::string(command.name), sum_of(command, step)});
    if (step.state) made.state = raw_json{std::string(step.of(*step.state))};
    return made;
}

std::string to_row(const recorded_step& step) { return encode(step); }

result<recorded_step> parse_row(std::string_view row) {
    try {
        return decode<recorded_step>(row);
    } catch (const error& damaged) {
        return std::unexpected(damaged);
    }
}

std::string in_words(const recorded_command& command) {
    switch (command.kind) {
        case command_kind::call: return "call " + command.name;
        case command_kind::wait: return "wait for " + command.name;
        case command_kind::sleep: return "sleep";
        case command_kind::transact: return "transact";
        case command_kind::patch: return "patch " + command.name;
        case command_kind::again: return "again";
        case command_kind::child: return "child " + command.name;
        case command_kind::start: return "start " + command.name;
        case command_kind::attach: return "attach to " + command.name;
        case command_kind::receive: return "receive " + command.name;
        case command_kind::answer: return "answer " + command.name;
        case command_kind::run: break;
    }
    return "run";
}

std::optional<std::string> find_difference(std::size_t number, const recorded_step& recorded,
                                           const recorded_step& repeated, quoting what) {
    const bool quotes = what == quoting::payloads;
    if (recorded.status != repeated.status)
        if (repeated.status == flow_status::quarantined)
            return fmt::format("step {}: {}", number, repeated.result);
    if (auto other = find_other_command(number, recorded, repeated)) return other;
    if (!quotes && recorded.status != repeated.status)
        return fmt::format("step {}: recorded {}, the code now is {}", number,
                           encode(recorded.status), encode(repeated.status));
    if (!quotes && recorded.result != repeated.result)
        return fmt::format("step {}: recorded {}, the code now ends with another result", number,
                           encode(recorded.status));
    if (recorded.status != repeated.status || recorded.result != repeated.result)
        return fmt::format("step {}: recorded {} {}, the code now is {} {}", number,
                           encode(recorded.status), recorded.result, encode(repeated.status),
                           repeated.result);
    if (recorded.dropped != repeated.dropped)
        return fmt::format(
            "step {}: recorded that these commands are waited for no more: {}, the code now drops "
            "these: {}",
            number, numbers(recorded.dropped), numbers(repeated.dropped));
    if (!quotes && recorded.state != repeated.state)
        return fmt::format("step {}: recorded {}", number,
                           how_states_differ(recorded.state, repeated.state));
    if (recorded.state != repeated.state)
        return fmt::format("step {}: recorded the state {}, now it is {}", number,
                           recorded.state.value_or(raw_json{"unchanged"}).text,
                           repeated.state.value_or(raw_json{"unchanged"}).text);
    return {};
}

std::optional<step_difference> parse_difference(std::string_view text) {
    constexpr std::string_view step = "step ";
    constexpr std::string_view recorded = "recorded ";
    constexpr std::string_view now = ", the code now ";
    if (!text.starts_with(step)) return {};
    text.remove_prefix(step.size());
    step_difference parts;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), parts.step);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (wrong != std::errc{} || !text.starts_with(": ")) return {};
    text.remove_prefix(2);
    const auto between = text.find(now);
    if (!text.starts_with(recorded) || between == std::string_view::npos) return parts;
    parts.recorded = text.substr(recorded.size(), between - recorded.size());
    parts.found = text.substr(between + now.size());
    return parts;
}

std::string state_carried(const recorded_step& step) {
    return step.carried && step.carried->text != "null" ? step.carried->text : std::string();
}

std::optional<std::string> repeat_step(
    detail::flow_base& flow, std::size_t number, const recorded_step& step,
    detail::flow_step& scratch,
    const std::function<void(const detail::flow_event&, detail::flow_step&)>& seen, quoting what) {
    const detail::flow_event event{.kind = step.cause,
                                   .command = step.command,
                                   .may_have_taken_effect = step.may_have_taken_effect,
                                   .at = wall_time(std::chrono::milliseconds(step.at_ms)),
                                   .payload = step.payload,
                                   .state = state_carried(step)};
    detail::recorded_patches patches;
    for (const auto& command : step.commands)
        if (command.kind == command_kind::patch) patches.push_back(command.name);
    if (flow.feed(event, scratch, &patches) != event_fit::taken)
        return fmt::format(
            "step {}: recorded that {} came for command {}, the code now does not wait for it",
            number, encode(step.cause), step.command);
    if (auto difference = find_difference(number, step, record(event, scratch), what))
        return difference;
    if (seen) seen(event, scratch);
    return {};
}

std::expected<std::unique_ptr<detail::flow_base>, std::string> rebuild(
    const detail::workflow_entry& code, const uuid& run, std::span<const recorded_step> history,
    detail::flow_step& scratch,
    const std::function<void(const detail::flow_event&, detail::flow_step&)>& seen, quoting what) {
    auto flow = code.begin(run);
    std::size_t number = 0;
    for (const auto& step : history)
        if (auto difference = repeat_step(*flow, ++number, step, scratch, seen, what))
            return std::unexpected(*std::move(difference));
    return flow;
}

}  // namespace posthorn
