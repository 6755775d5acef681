#include "engine/steps/workflow_intake.hpp"

#include <fmt/format.h>

#include "base/planted.hpp"
#include "engine/rows/call_ids.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "message/refusal.hpp"
#include "message/trace.hpp"
#include "store/dead_letters.hpp"

namespace posthorn {
namespace {

/// Of no message's doing, so none is charged.
error not_stored(std::string_view table) {
    return swallowed(table, error_code::store_busy).error();
}

std::optional<std::string> trace_in(const message& received) {
    auto parent = trace_of(received.headers).parent;
    if (parent.empty()) return std::nullopt;
    return parent;
}

}  // namespace

std::string workflow_intake::json_of(const message& received) const {
    const auto& by = with_.maker.defaults().serializer;
    if (!by || received.content_type != by->content_type()) return received.payload;
    try {
        return by->to_json(received.payload);
    } catch (const std::exception& misfit) {
        throw permanent(misfit.what());
    }
}

std::string workflow_intake::take_signal(context& tx, const message& received) const {
    if (received.type == message_type::command)
        throw permanent(fmt::format(
            "workflows wait for the signal {}; nothing here answers a Command", received.endpoint));
    const auto payload = json_of(received);
    for (const auto& rule : starts_)
        if (rule.on.signal == received.endpoint)
            if (const auto id = started_id(rule.on, payload); !id)
                throw permanent(id.error().what());
    const auto stored = tx.execute(
        "INSERT INTO workflow_signals (source, message_id, signal, payload, received_at, trace)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        received.source, received.id.to_string(), received.endpoint, payload,
        with_.time.wall().time_since_epoch().count(), trace_in(received));
    if (stored == 0) throw not_stored("workflow_signals");
    return {};
}

std::string workflow_intake::take_request(context& tx, const message& received) const {
    if (received.type != message_type::command) return take_signal(tx, received);
    const auto stored = tx.execute(
        "INSERT INTO workflow_signals (source, message_id, signal, payload, received_at,"
        " correlation_id, tenant, expires_at, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        received.source, received.id.to_string(), received.endpoint, json_of(received),
        with_.time.wall().time_since_epoch().count(),
        received.correlation_id.empty() ? received.id.to_string() : received.correlation_id,
        received.tenant, std::int64_t{received.expires_at.time_since_epoch().count()},
        trace_in(received));
    if (stored == 0) throw not_stored("workflow_signals");
    return {};
}

// The row of a call is there once, and names who may answer it.
std::string workflow_intake::take_response(context& tx, const message& received) const {
    const auto call = parse_correlation_id(received.correlation_id);
    const auto open =
        call ? tx.query_value<std::int64_t>(
                   "SELECT instance FROM workflow_instances WHERE uuid = ? AND run = ?",
                   call->instance.to_string(), call->run)
             : std::nullopt;
    std::string answers_as = received.source;
    if (POSTHORN_PLANTED(stranger_believed) && open)
        answers_as = tx.query_value<std::string>(
                           "SELECT destination FROM workflow_calls WHERE instance = ?"
                           " AND command = ?",
                           *open, call->command)
                         .value_or(answers_as);
    if (open && tx.execute("DELETE FROM workflow_calls WHERE instance = ? AND command = ?"
                           " AND destination = ? AND endpoint = ?",
                           *open, call->command, answers_as, received.endpoint) == 1) {
        const auto refusal = refusal_in(received.headers);
        const auto stored = tx.execute(
            "INSERT INTO workflow_mailbox (instance, command, kind, payload) VALUES (?, ?, ?, ?)",
            *open, call->command,
            refusal ? cause_text(detail::event_kind::died, false)
                    : cause_text(detail::event_kind::answered, true),
            refusal ? "refused: " + *refusal : json_of(received));
        if (stored == 0) throw not_stored("workflow_mailbox");
        return {};
    }
    if (open && tx.query_value<std::int64_t>(
                    "SELECT 1 FROM workflow_calls WHERE instance = ? AND command = ?"
                    " AND destination = ? AND endpoint = ?",
                    *open, call->command, answers_as, received.endpoint))
        throw not_stored("workflow_calls");
    with_.log.warn(
        "Workflow: {Source} answered {Endpoint} for {CorrelationId}, which is not called, or was "
        "answered before",
        {{"Source", received.source},
         {"Endpoint", received.endpoint},
         {"CorrelationId", received.correlation_id}});
    return {};
}

result<> workflow_intake::ended(store_transaction& tx, const final_row& what) {
    const auto call = parse_correlation_id(what.row.body.correlation_id);
    if (!call) return {};
    std::int64_t instance = 0;
    std::int64_t undoes = 0;
    POSTHORN_TRY(ask(
        tx,
        "SELECT c.instance, c.undoes FROM workflow_calls c"
        " JOIN workflow_instances i ON i.instance = c.instance"
        " WHERE i.uuid = ? AND i.run = ? AND c.command = ?",
        [&](const sql_row& row) {
            instance = row.integer(0);
            undoes = row.integer(1);
        },
        call->instance.to_string(), call->run, call->command));
    if (instance == 0) return {};  // Nothing waits for it any more; it waits for a person.
    const bool has_expired = what.status == outbox_status::expired;
    const auto why = what.error.empty() && has_expired ? "its time is over" : what.error;
    if (undoes != 0) {
        POSTHORN_TRY(change(
            tx,
            "UPDATE workflow_instances SET status = 'quarantined', reason = ?"
            " WHERE instance = ? AND status IN ('starting', 'running')",
            fmt::format("{}, which undoes command {}, was given up: {}; requeue message {}, then "
                        "resume the workflow",
                        what.row.body.endpoint, undoes, why, what.row.body.id.to_string()),
            instance));
        return {};
    }
    POSTHORN_TRY(must_change(tx, "workflow_calls",
                             "DELETE FROM workflow_calls WHERE instance = ? AND command = ?",
                             instance, call->command));
    POSTHORN_TRY(must_change(
        tx, "workflow_mailbox",
        "INSERT INTO workflow_mailbox (instance, command, kind, payload) VALUES (?, ?, ?, ?)",
        instance, call->command, cause_text(detail::event_kind::died, what.may_have_taken_effect),
        why));
    tx.announce();
    if (has_expired) return {};
    POSTHORN_TRY(tx.dead_letters().change(
        what.row.body.id,
        {.what = dead_action::resolve, .resolution = "told to the workflow that called"},
        with_.time.wall()));
    return {};
}

result<> add_intake(handlers& to, const workflow_intake& by) {
    for (const auto* each = detail::awaited_signal::first(); each != nullptr; each = each->next()) {
        if (to.find(each->name()) != nullptr) continue;
        POSTHORN_TRY(to.add(
            std::string(each->name()),
            {.run = transactional_handler([&by, is_command = each->is_command()](
                                              context& tx, const message& received) {
                 return is_command ? by.take_request(tx, received) : by.take_signal(tx, received);
             }),
             .takes_responses = false,
             .answers_later = each->is_command()}));
    }
    to.add_correlated(std::string(call_prefix),
                      {.run = transactional_handler([&by](context& tx, const message& received) {
                           return by.take_response(tx, received);
                       })});
    return {};
}

}  // namespace posthorn
