#include "engine/steps/family.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/planted.hpp"
#include "base/text/utf8.hpp"
#include "engine/steps/matchmaker.hpp"
#include "engine/steps/requests.hpp"

namespace posthorn {
namespace {

using detail::event_kind;
using detail::flow_command;

constexpr std::size_t child_id_size_max = 500;
constexpr std::int64_t nested_max = 64;

/// A workflow that another one is about.
struct relative {
    std::int64_t instance = 0;
    std::int64_t parent = 0;
    std::int64_t parent_run = 0;
    std::string status{};
    std::string end{};  // Its result, or why there is none.
};

result<std::optional<relative>> find_relative(store_transaction& tx, std::string_view workflow,
                                              std::string_view id) {
    std::optional<relative> found;
    POSTHORN_TRY(ask(
        tx,
        "SELECT instance, coalesce(parent, 0), coalesce(parent_run, 0), status,"
        " coalesce(result, reason, '') FROM workflow_instances WHERE workflow = ? AND id = ?",
        [&](const sql_row& row) {
            found = relative{row.integer(0), row.integer(1), row.integer(2),
                             std::string(row.text(3)), std::string(row.text(4))};
        },
        workflow, id));
    return found;
}

result<> refuse(store_transaction& tx, pending_step& step, const flow_command& command,
                std::string why) {
    return add_result(tx, step, command.number, event_kind::failed, std::move(why));
}

std::optional<event_kind> end_of(std::string_view status) {
    if (status == "completed") return event_kind::returned;
    if (status == "failed") return event_kind::failed;
    if (status == "cancelled") return event_kind::stopped;
    return {};
}

/// Lets the workflow be told of that one's end, at once if it has ended.
result<> watch(store_transaction& tx, pending_step& step, const flow_command& command,
               const relative& whom) {
    relative now = whom;
    bool is_noted = false;
    // It may have ended since it was looked at.
    POSTHORN_TRY(ask(
        tx,
        "UPDATE workflow_instances SET watched = 1 WHERE instance = ?"
        " RETURNING status, coalesce(result, reason, '')",
        [&](const sql_row& row) {
            is_noted = true;
            now.status = row.text(0);
            now.end = row.text(1);
        },
        whom.instance));
    if (!is_noted) return swallowed("workflow_instances");
    if (const auto how = end_of(now.status))
        return add_result(tx, step, command.number, *how, now.end);
    return must_change(tx, "workflow_watches",
                       "INSERT INTO workflow_watches (instance, command, target) VALUES (?, ?, ?)",
                       step.of.instance, command.number, whom.instance);
}

/// Why an id cannot be one; empty if it can.
std::string id_refusal(std::string_view id) {
    if (!is_utf8(id) || id.contains('\0'))
        return "the id of a workflow is a text in UTF-8 without a zero byte, and this one is not";
    if (!id.empty() && id.size() <= child_id_size_max) return {};
    return fmt::format("the id of a workflow has 1 to {} bytes, and this one has {}",
                       child_id_size_max, id.size());
}

/// Only children are nested: a workflow that starts the next one goes on in it for ever if it likes.
result<std::int64_t> insert_child(store_transaction& tx, const pending_step& step,
                                  const flow_command& command, bool is_watched) {
    return change(tx,
                  fmt::format("INSERT INTO workflow_instances (workflow, version, id, arguments,"
                              " started_at, tenant, depth, parent, parent_run, fate, watched,"
                              " trace) SELECT ?, ?, ?, ?, ?, p.tenant, {}, ?, ?, ?, ?, ?"
                              " FROM workflow_instances p WHERE p.instance = ? AND p.depth < ?"
                              " ON CONFLICT (workflow, id) DO NOTHING",
                              is_watched ? "p.depth + 1" : "0"),
                  command.name, command.code->version(), step.did.of(command.id),
                  step.did.of(command.payload), step.cause.event.at.time_since_epoch().count(),
                  is_watched ? std::optional(step.of.instance) : std::nullopt,
                  is_watched ? std::optional(step.of.run) : std::nullopt,
                  is_watched ? std::optional(fate_text(command.fate)) : std::nullopt, is_watched,
                  trace_from(step), step.of.instance, is_watched ? nested_max : INT64_MAX);
}

result<> refuse_depth(store_transaction& tx, pending_step& step, const flow_command& command) {
    POSTHORN_LET(is_deep,
                 is_there(tx, "SELECT 1 FROM workflow_instances WHERE instance = ? AND depth >= ?",
                          step.of.instance, nested_max));
    if (!is_deep) return swallowed("workflow_instances");
    return refuse(tx, step, command,
                  fmt::format("workflows begin others {} deep at most; does this one begin itself "
                              "without an end?",
                              nested_max));
}

result<bool> is_ancestor(store_transaction& tx, std::int64_t who, std::int64_t of) {
    return is_there(tx,
                    "WITH RECURSIVE line (instance, parent) AS ("
                    " SELECT instance, parent FROM workflow_instances WHERE instance = ?"
                    " UNION SELECT i.instance, i.parent FROM workflow_instances i"
                    " JOIN line ON i.instance = line.parent)"
                    " SELECT 1 FROM line WHERE instance = ?",
                    of, who);
}

}  // namespace

bool begins_others(const detail::flow_step& did) {
    return std::ranges::any_of(did.commands, [](const auto& each) {
        return each.kind == detail::command_kind::child || each.kind == detail::command_kind::start;
    });
}

result<> begin_child(store_transaction& tx, pending_step& step, const flow_command& command) {
    const auto id = step.did.of(command.id);
    if (auto why = id_refusal(id); !why.empty()) return refuse(tx, step, command, std::move(why));
    POSTHORN_LET(begun, insert_child(tx, step, command, true));
    if (begun == 1)
        return must_change(tx, "workflow_watches",
                           "INSERT INTO workflow_watches (instance, command, target)"
                           " SELECT ?, ?, instance FROM workflow_instances"
                           " WHERE workflow = ? AND id = ?",
                           step.of.instance, command.number, command.name, id);
    POSTHORN_LET(found, find_relative(tx, command.name, id));
    if (!found) return refuse_depth(tx, step, command);
    const bool is_ours = found->parent == step.of.instance && found->parent_run < step.of.run;
    if (!is_ours)
        return refuse(
            tx, step, command,
            fmt::format("{} {} was begun before; each id is used once", command.name, id));
    // A child of the run before.
    POSTHORN_TRY(
        must_change(tx, "workflow_instances",
                    "UPDATE workflow_instances SET parent_run = ?, fate = ? WHERE instance = ?",
                    step.of.run, fate_text(command.fate), found->instance));
    return watch(tx, step, command, *found);
}

result<> begin_other(store_transaction& tx, pending_step& step, const flow_command& command) {
    const auto id = step.did.of(command.id);
    if (const auto why = id_refusal(id); !why.empty()) {  // The code has no handle to hear it by.
        step.bug =
            fmt::format("command {}: {} cannot be started: {}", command.number, command.name, why);
        return fail(error_code::invalid_argument, "{}", *step.bug);
    }
    POSTHORN_LET(begun, insert_child(tx, step, command, false));
    if (begun == 1) return {};
    POSTHORN_LET(found, find_relative(tx, command.name, id));
    if (!found) return swallowed("workflow_instances");
    return {};
}

result<> attach_to(store_transaction& tx, pending_step& step, const flow_command& command) {
    const auto id = step.did.of(command.id);
    if (auto why = id_refusal(id); !why.empty()) return refuse(tx, step, command, std::move(why));
    POSTHORN_LET(found, find_relative(tx, command.name, id));
    if (!found)
        return refuse(tx, step, command,
                      fmt::format("there is no workflow {} {}", command.name, id));
    POSTHORN_LET(is_above, is_ancestor(tx, found->instance, step.of.instance));
    if (is_above)
        return refuse(tx, step, command,
                      fmt::format("{} {} is this workflow itself or has begun it, so both would "
                                  "wait for each other",
                                  command.name, id));
    return watch(tx, step, command, *found);
}

result<> leave_children(store_transaction& tx, std::int64_t parent, std::string_view why) {
    if (POSTHORN_PLANTED(children_left_alone)) return {};
    POSTHORN_TRY(change(tx,
                        "INSERT INTO workflow_mailbox (instance, kind, payload)"
                        " SELECT instance, CASE fate WHEN 'terminate' THEN 'terminate'"
                        " ELSE 'cancel' END, ? FROM workflow_instances WHERE parent = ?"
                        " AND fate IN ('cancel', 'terminate')"
                        " AND status IN ('starting', 'running', 'paused', 'quarantined')"
                        " ORDER BY instance",
                        why, parent));
    return {};
}

result<> tell_end(store_transaction& tx, std::int64_t instance, event_kind how,
                  std::string_view payload) {
    if (POSTHORN_PLANTED(end_not_told)) return {};
    POSTHORN_TRY(change(tx,
                        "INSERT INTO workflow_mailbox (instance, command, kind, payload)"
                        " SELECT instance, command, ?, ? FROM workflow_watches WHERE target = ?"
                        " ORDER BY instance, command",
                        cause_text(how, true), payload, instance));
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_watches WHERE target = ?", instance));
    return {};
}

result<> terminate(store_transaction& tx, std::int64_t instance, const mail& what, wall_time now,
                   const message_maker& maker) {
    POSTHORN_LET(ended, change(tx,
                               "UPDATE workflow_instances SET status = 'cancelled', ended_at = ?,"
                               " reason = ? WHERE instance = ?"
                               " AND status IN ('starting', 'running', 'paused', 'quarantined')",
                               now.time_since_epoch().count(), what.event.payload, instance));
    if (ended == 0) {
        POSTHORN_TRY(change(tx, "DELETE FROM workflow_mailbox WHERE seq = ?", what.seq));
        return {};
    }
    for (const std::string_view table : {"workflow_waits", "workflow_timers", "workflow_calls",
                                         "workflow_runs", "workflow_watches"})
        POSTHORN_TRY(change(tx, fmt::format("DELETE FROM {} WHERE instance = ?", table), instance));
    POSTHORN_TRY(refuse_held(tx, instance, maker));
    POSTHORN_TRY(give_back_signals(tx, instance));
    POSTHORN_TRY(leave_children(tx, instance, what.event.payload));
    return tell_end(tx, instance, event_kind::stopped, what.event.payload);
}

}  // namespace posthorn
