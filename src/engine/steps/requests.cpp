#include "engine/steps/requests.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "base/planted.hpp"
#include "message/refusal.hpp"
#include "message/trace.hpp"

namespace posthorn {
namespace {

/// A Command that came, and who is to hear of it.
struct asked_command {
    std::int64_t seq = 0;
    message asked{};
};

constexpr std::string_view asked_columns_sql =
    "SELECT s.seq, coalesce(s.source, ''), coalesce(s.message_id, ''), s.signal, s.correlation_id,"
    " coalesce(s.tenant, ''), CASE WHEN octet_length(s.trace) <= 64 THEN s.trace ELSE '' END"
    " FROM workflow_signals s";

asked_command asked_of(const sql_row& row) {
    asked_command found{.seq = row.integer(0)};
    found.asked.type = message_type::command;
    found.asked.source = row.text(1);
    found.asked.id = uuid::parse(row.text(2)).value_or(uuid{});
    found.asked.endpoint = row.text(3);
    found.asked.correlation_id = row.text(4);
    found.asked.tenant = row.text(5);
    if (const auto told_by = parse_traceparent(row.text(6)))
        found.asked.headers = put_trace({}, *told_by, {}, 4096).value_or(std::string());
    return found;
}

struct told_answer {
    std::string payload = "null";
    std::string headers{};
};

/// Once: who is to hear of it is forgotten then.
result<> tell_asker(store_transaction& tx, const asked_command& what, told_answer answer,
                    const message_maker& maker) {
    POSTHORN_LET(is_ours, change(tx,
                                 "UPDATE workflow_signals SET correlation_id = NULL"
                                 " WHERE seq = ? AND correlation_id IS NOT NULL",
                                 what.seq));
    if (is_ours == 0) {
        POSTHORN_LET(is_open, is_there(tx,
                                       "SELECT 1 FROM workflow_signals"
                                       " WHERE seq = ? AND correlation_id IS NOT NULL",
                                       what.seq));
        if (is_open) return swallowed("workflow_signals");
        return {};  // Another node was faster.
    }
    if (what.asked.source.empty()) return {};  // A row that was written by hand.
    send_options options{.type = message_type::response,
                         .headers = std::move(answer.headers),
                         .correlation_id = what.asked.correlation_id,
                         .tenant = what.asked.tenant};
    POSTHORN_LET(made, maker.make({.destination = what.asked.source,
                                   .endpoint = what.asked.endpoint,
                                   .payload = std::move(answer.payload),
                                   .options = std::move(options)},
                                  &what.asked));
    POSTHORN_TRY(tx.outbox().insert(std::move(made)));
    return {};
}

}  // namespace

result<> hold_request(store_transaction& tx, std::int64_t instance, const mail& what) {
    POSTHORN_TRY(change(tx,
                        "INSERT INTO workflow_requests (instance, command, signal)"
                        " SELECT ?, ?, seq FROM workflow_signals"
                        " WHERE seq = ? AND correlation_id IS NOT NULL",
                        instance, what.event.command, what.signal));
    return {};
}

result<> answer_request(store_transaction& tx, const pending_step& step,
                        const detail::flow_command& command, const message_maker& maker) {
    std::optional<asked_command> found;
    POSTHORN_TRY(ask(
        tx,
        fmt::format("{} JOIN workflow_requests r ON r.signal = s.seq"
                    " WHERE r.instance = ? AND r.command = ? AND s.correlation_id IS NOT NULL",
                    asked_columns_sql),
        [&](const sql_row& row) { found = asked_of(row); }, step.of.instance, command.request));
    if (!found) return {};  // A row of plain SQL, which nothing waits for an answer of.
    POSTHORN_TRY(must_change(tx, "workflow_requests",
                             "DELETE FROM workflow_requests WHERE instance = ? AND command = ?",
                             step.of.instance, command.request));
    std::string said(step.did.of(command.payload));
    told_answer answer{
        .headers = headers_from(step, command.is_refusal ? refusal_headers(said) : std::string())};
    if (!command.is_refusal) answer.payload = std::move(said);
    return tell_asker(tx, *found, std::move(answer), maker);
}

result<> refuse_request(store_transaction& tx, std::int64_t signal, std::string_view why,
                        const message_maker& maker) {
    std::optional<asked_command> found;
    POSTHORN_TRY(ask(
        tx, fmt::format("{} WHERE s.seq = ? AND s.correlation_id IS NOT NULL", asked_columns_sql),
        [&](const sql_row& row) { found = asked_of(row); }, signal));
    if (!found) return {};
    const auto told = tell_asker(tx, *found, {.headers = refusal_headers(why)}, maker);
    // A row written by hand may name a sender that none can be: that keeps nothing from its end.
    if (!told && is_about_message(told.error().code())) return {};
    return told;
}

result<> refuse_held(store_transaction& tx, std::int64_t instance, const message_maker& maker) {
    if (POSTHORN_PLANTED(request_left_open)) return {};
    std::vector<std::int64_t> held;
    POSTHORN_TRY(ask(
        tx, "SELECT signal FROM workflow_requests WHERE instance = ? ORDER BY command",
        [&](const sql_row& row) { held.push_back(row.integer(0)); }, instance));
    for (const auto signal : held)
        POSTHORN_TRY(refuse_request(tx, signal, "the workflow has ended without an answer", maker));
    if (held.empty()) return {};
    return must_change(tx, "workflow_requests", "DELETE FROM workflow_requests WHERE instance = ?",
                       instance);
}

result<> hand_on_held(store_transaction& tx, std::int64_t instance) {
    POSTHORN_TRY(change(tx,
                        "UPDATE workflow_signals SET matched_at = NULL WHERE seq IN"
                        " (SELECT signal FROM workflow_requests WHERE instance = ?)",
                        instance));
    POSTHORN_TRY(change(tx, "DELETE FROM workflow_requests WHERE instance = ?", instance));
    return {};
}

}  // namespace posthorn
