#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/json/encode.hpp>
#include <posthorn/workflow/core.hpp>
#include <posthorn/workflow/function.hpp>

#include "base/result.hpp"

namespace posthorn::detail {

POSTHORN_ENUM(command_kind, call, wait, sleep, transact, run, patch, again, child, start, attach,
              receive, answer)
POSTHORN_ENUM(event_kind, start, answered, died, signalled, elapsed, done, refused, cancel,
              returned, failed, stopped)

}  // namespace posthorn::detail

/// What is kept of a run, and how it is built again from that. Pure.
namespace posthorn {

POSTHORN_ENUM(flow_status, running, completed, failed, cancelled, quarantined)

/// A command as it is recorded: what it said is a checksum, since its effect is elsewhere.
struct recorded_command {
    detail::command_kind kind{};
    std::string name{};
    std::int64_t sum = 0;
    bool operator==(const recorded_command&) const = default;
};
POSTHORN_STRUCT(recorded_command)

/// One step: an event, and what the code did on it.
struct recorded_step {
    detail::event_kind cause{};
    std::uint32_t command = 0;
    bool may_have_taken_effect = true;
    std::int64_t at_ms = 0;
    std::string payload{};
    std::optional<raw_json> carried{};  // Of a start: the state that the run before has left.
    std::vector<recorded_command> commands{};
    std::vector<std::uint32_t> dropped{};
    std::optional<raw_json> state{};  // If it changed.
    flow_status status{};
    std::string result{};
    bool operator==(const recorded_step&) const = default;
};
POSTHORN_STRUCT(recorded_step)

[[nodiscard]] recorded_step record(const detail::flow_event& event, const detail::flow_step& step);

/// The state that the run before has left to this one; empty, where a row says null or nothing.
[[nodiscard]] std::string state_carried(const recorded_step& step);

/// One row; `error_code::invalid_payload` says what is wrong with a damaged one.
[[nodiscard]] std::string to_row(const recorded_step& step);
[[nodiscard]] result<recorded_step> parse_row(std::string_view row);

/// A command for people: `call billing/v1/Charge`.
[[nodiscard]] std::string in_words(const recorded_command& command);

/// Whether a difference may quote states and results, which are payloads: in a test, not in a log.
enum class quoting : bool { nothing, payloads };

/// How a step that was repeated differs from its record: `step 7: recorded call billing/v1/Charge,
/// the code now sleeps`. Empty if it does not. Steps are counted from 1.
[[nodiscard]] std::optional<std::string> find_difference(std::size_t number,
                                                         const recorded_step& recorded,
                                                         const recorded_step& repeated,
                                                         quoting what = quoting::payloads);

/// The parts of such a text.
struct step_difference {
    std::int64_t step = 0;
    std::string recorded{};  // Empty, as is `found`, where the text compares nothing.
    std::string found{};
    bool operator==(const step_difference&) const = default;
};
/// Empty if the text does not begin with a step.
[[nodiscard]] std::optional<step_difference> parse_difference(std::string_view text);

/// Repeats one step. How it came out differently, if it did; then the flow is of no use any more.
[[nodiscard]] std::optional<std::string> repeat_step(
    detail::flow_base& flow, std::size_t number, const recorded_step& step,
    detail::flow_step& scratch,
    const std::function<void(const detail::flow_event&, detail::flow_step&)>& seen = {},
    quoting what = quoting::payloads);

/// A run as it was after its last recorded step. An error says which step came out differently.
/// `seen` gets each step as it is repeated, with its functions, and the event that caused it.
[[nodiscard]] std::expected<std::unique_ptr<detail::flow_base>, std::string> rebuild(
    const detail::workflow_entry& code, const uuid& run, std::span<const recorded_step> history,
    detail::flow_step& scratch,
    const std::function<void(const detail::flow_event&, detail::flow_step&)>& seen = {},
    quoting what = quoting::payloads);

}  // namespace posthorn
