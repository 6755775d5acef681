#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/sql.hpp>
#include <posthorn/workflow/hosting.hpp>

#include "base/result.hpp"
#include "store/store.hpp"
#include "store/swallowed.hpp"
#include "workflow/history.hpp"

/// The rows of workflows, as they are read.
namespace posthorn {

enum class instance_status : std::uint8_t {
    starting,  // Not a step was taken yet.
    running,
    paused,
    quarantined,
    completed,
    failed,
    cancelled
};
POSTHORN_ENUM(instance_status, starting, running, paused, quarantined, completed, failed, cancelled)

[[nodiscard]] std::string_view to_string(instance_status status) noexcept;
[[nodiscard]] std::optional<instance_status> parse_instance_status(std::string_view text) noexcept;
/// Neither ended nor held.
[[nodiscard]] constexpr bool is_active(instance_status status) noexcept {
    return status == instance_status::starting || status == instance_status::running;
}
[[nodiscard]] constexpr bool is_open(instance_status status) noexcept {
    return status < instance_status::completed;
}
[[nodiscard]] instance_status status_of(flow_status status) noexcept;

struct instance_row {
    std::int64_t instance = 0;
    uuid name{};
    std::string workflow{};
    std::int64_t version = 0;
    std::string id{};
    std::int64_t run = 1;
    instance_status status = instance_status::starting;
    std::string tenant{};
    std::int64_t parent = 0;  // Zero if it has none.
    std::string arguments{};
    std::string carried{};  // The state that the run before has left; empty of the first.
    std::int64_t started_at = 0;
    std::optional<std::int64_t> ended_at{};
    std::string result{};
    std::string reason{};
    std::string trace{};  // A `traceparent`: what started it. Not always well-formed.
};

/// What makes a run's random numbers its own.
[[nodiscard]] uuid run_name(const instance_row& of);

/// Something that came for a workflow.
struct mail {
    std::int64_t seq = 0;  // Zero of a start, which is the instance's own row.
    detail::flow_event event{};
    std::int64_t signal = 0;
    std::string trace{};    // Of that signal, likewise.
    bool alone = false;     // Of a signal: no other workflow got it.
    bool is_nudge = false;  // No event: a person has let the workflow go on.
    bool is_end = false;    // No event: it is to end at once.
};

/// What kinds of commands a workflow has made: it may have rows of them, and of no others.
class command_kinds {
public:
    void add(detail::command_kind one) noexcept { seen_ |= bit(one); }
    [[nodiscard]] bool has(detail::command_kind one) const noexcept {
        return (seen_ & bit(one)) != 0;
    }

private:
    static constexpr std::uint32_t bit(detail::command_kind one) noexcept {
        return std::uint32_t{1} << static_cast<std::uint32_t>(one);
    }
    std::uint32_t seen_ = 0;
};

/// How a person's word to go on lies in the mailbox.
inline constexpr std::string_view nudge_text = "resume";
/// How it lies there that the workflow is to end at once.
inline constexpr std::string_view termination_text = "terminate";

[[nodiscard]] std::string_view fate_text(child_fate fate) noexcept;
/// In the tables: as the event is called, but `unsent` for a call that surely had no effect.
[[nodiscard]] std::string_view cause_text(detail::event_kind kind, bool may_have_taken_effect);

/// A question of either a reader or a transaction.
template <class From, class Visit, class... Args>
result<> ask(From& from, std::string_view sql, Visit&& visit, const Args&... args) {
    const auto with = detail::sql_params(args...);
    return from.query(sql, with, [&](const sql_row& row) { visit(row); });
}

/// A statement; the number of rows changed.
template <class... Args>
result<std::int64_t> change(store_transaction& tx, std::string_view sql, const Args&... args) {
    const auto with = detail::sql_params(args...);
    return tx.execute(sql, with);
}

/// The same, of a statement without which a workflow would wait for ever: no row changed is an error.
template <class... Args>
result<> must_change(store_transaction& tx, std::string_view table, std::string_view sql,
                     const Args&... args) {
    POSTHORN_LET(changed, change(tx, sql, args...));
    if (changed == 0) return swallowed(table);
    return {};
}

/// Whether a question has any answer.
template <class From, class... Args>
result<bool> is_there(From& from, std::string_view sql, const Args&... args) {
    bool found = false;
    POSTHORN_TRY(ask(from, sql, [&](const sql_row&) { found = true; }, args...));
    return found;
}

/// How many are open, by workflow, version and status.
inline constexpr std::string_view open_counts_sql =
    "SELECT workflow, version, status, count(*) FROM workflow_instances"
    " WHERE status IN ('starting', 'running', 'paused', 'quarantined')"
    " GROUP BY workflow, version, status ORDER BY workflow, version, status";

[[nodiscard]] result<std::optional<instance_row>> find_instance(store_reader& from,
                                                                std::int64_t instance);
[[nodiscard]] result<std::optional<instance_row>> find_instance(store_reader& from,
                                                                std::string_view workflow,
                                                                std::string_view id);
/// The next that came for it, unless it is held or has ended; nothing if nothing did.
/// `error_code::store_corrupt` if it cannot be read.
[[nodiscard]] result<std::optional<mail>> next_mail(store_reader& from, std::int64_t instance);

/// That it is to end at once, whatever its status, if it is open.
[[nodiscard]] result<std::optional<mail>> find_termination(store_reader& from,
                                                           std::int64_t instance);

/// All steps of its present run. `error_code::store_corrupt` names the first that is missing or
/// damaged.
[[nodiscard]] result<std::vector<recorded_step>> read_history(store_reader& from,
                                                              const instance_row& of);
/// Some of them, up to the first that is missing or damaged; `damage` names that one.
struct stored_steps {
    std::vector<recorded_step> steps{};
    std::optional<error> damage{};
};
struct step_range {
    std::int64_t after = 0;
    std::int64_t count = INT64_MAX;
};
[[nodiscard]] result<stored_steps> read_steps(store_reader& from, const instance_row& of,
                                              step_range which);
/// What a row says of a step, but its state and its cause.
[[nodiscard]] std::string encode_deeds(const recorded_step& step);

/// The last that was stored; empty if none was.
[[nodiscard]] result<std::string> read_state(store_reader& from, const instance_row& of,
                                             std::int64_t up_to_step = INT64_MAX);
[[nodiscard]] result<std::int64_t> count_steps(store_reader& from, const instance_row& of);

/// Where an instance stands, for the public API. Empty if there is none.
[[nodiscard]] result<std::optional<workflow_view>> view_instance(store_reader& from,
                                                                 std::string_view workflow,
                                                                 std::string_view id);

}  // namespace posthorn
