#include "engine/steps/run_end.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/planted.hpp"
#include "engine/steps/family.hpp"
#include "engine/steps/matchmaker.hpp"
#include "engine/steps/requests.hpp"

namespace posthorn {
namespace {

using detail::command_kind;

detail::event_kind end_told(flow_status as) {
    if (as == flow_status::completed) return detail::event_kind::returned;
    if (as == flow_status::cancelled) return detail::event_kind::stopped;
    return detail::event_kind::failed;
}

/// Rows of commands that nothing waits for any more.
result<> delete_open(store_transaction& tx, const pending_step& step) {
    static constexpr std::array rows_of{
        std::pair(command_kind::wait, "DELETE FROM workflow_waits WHERE instance = ?"),
        std::pair(command_kind::sleep, "DELETE FROM workflow_timers WHERE instance = ?"),
        std::pair(command_kind::call, "DELETE FROM workflow_calls WHERE instance = ?"),
        std::pair(command_kind::run, "DELETE FROM workflow_runs WHERE instance = ?")};
    for (const auto& [kind, sql] : rows_of)
        if (step.made.has(kind)) POSTHORN_TRY(change(tx, sql, step.of.instance));
    if (step.made.has(command_kind::receive) && !step.made.has(command_kind::wait))
        POSTHORN_TRY(change(tx, "DELETE FROM workflow_waits WHERE instance = ?", step.of.instance));
    if (step.made.has(command_kind::child) || step.made.has(command_kind::attach))
        POSTHORN_TRY(
            change(tx, "DELETE FROM workflow_watches WHERE instance = ?", step.of.instance));
    return {};
}

}  // namespace

result<> write_end(store_transaction& tx, const pending_step& step, const message_maker& maker) {
    const bool has_completed = step.did.status == flow_status::completed;
    const auto instance = step.of.instance;
    std::optional<bool> is_watched;
    POSTHORN_TRY(ask(
        tx,
        "UPDATE workflow_instances SET status = ?, ended_at = ?, result = ?, reason = ?"
        " WHERE instance = ? RETURNING watched",
        [&](const sql_row& row) { is_watched = row.integer(0) != 0; },
        to_string(status_of(step.did.status)), step.cause.event.at.time_since_epoch().count(),
        has_completed ? std::optional<std::string_view>(step.did.result) : std::nullopt,
        has_completed ? std::nullopt : std::optional<std::string_view>(step.did.result), instance));
    if (!is_watched) return swallowed("workflow_instances");
    POSTHORN_TRY(delete_open(tx, step));
    if (step.made.has(command_kind::receive)) POSTHORN_TRY(refuse_held(tx, instance, maker));
    POSTHORN_TRY(give_back_signals(tx, instance));
    if (!*is_watched) return {};
    return tell_end(tx, instance, end_told(step.did.status), step.did.result);
}

result<> write_next_run(store_transaction& tx, const pending_step& step) {
    const auto& next = *step.did.next_run();
    const auto& of = step.of;
    std::optional<std::string> state;
    POSTHORN_TRY(ask(
        tx,
        "SELECT state FROM workflow_history WHERE instance = ? AND run = ? AND state IS NOT NULL"
        " ORDER BY step DESC LIMIT 1",
        [&](const sql_row& row) { state = row.text(0); }, of.instance, of.run));
    if (POSTHORN_PLANTED(state_left_behind)) state.reset();
    if (!POSTHORN_PLANTED(signals_left_behind)) POSTHORN_TRY(hand_on_signals(tx, of.instance));
    if (step.made.has(command_kind::receive)) POSTHORN_TRY(hand_on_held(tx, of.instance));
    POSTHORN_TRY(delete_open(tx, step));
    if (of.run == 1)
        POSTHORN_TRY(change(tx,
                            "UPDATE workflow_history SET payload = (SELECT arguments"
                            " FROM workflow_instances i WHERE i.instance = ?)"
                            " WHERE instance = ? AND run = 1 AND step = 1",
                            of.instance, of.instance));
    POSTHORN_TRY(must_change(
        tx, "workflow_instances",
        "UPDATE workflow_instances SET run = ?, status = 'starting', version = ?, arguments = ?,"
        " carried = coalesce(?, carried) WHERE instance = ? AND run = ? AND status = 'running'",
        of.run + 1, next.code->version(), step.did.of(next.payload), state, of.instance, of.run));
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_history WHERE instance = ? AND run < ?",
                        of.instance, of.run));
    return {};
}

}  // namespace posthorn
