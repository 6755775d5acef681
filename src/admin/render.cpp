#include "admin/render.hpp"

#include <boost/json/array.hpp>

#include "admin/json_fields.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

json::object alarm(const outbox_overview& overview) {
    json::object shown;
    set(shown, "count", overview.undeliverable);
    set(shown, "destination", overview.undeliverable_destination);
    set(shown, "error", overview.undeliverable_error);
    json::array causes;
    for (const auto& one : undeliverable_causes(overview.backlog)) {
        json::object cause;
        set(cause, "count", one.count);
        set(cause, "destination", one.destination);
        set(cause, "error", one.error);
        causes.push_back(std::move(cause));
    }
    if (!causes.empty()) shown["causes"] = std::move(causes);
    return shown;
}

json::object to_json(const order_blocker& by) {
    json::object shown{{"messageId", text(by.id)}, {"status", to_string(by.status)}};
    set(shown, "since", by.since);
    return shown;
}

json::object to_json(const blocked_report& blocked) {
    json::object shown;
    set(shown, "messages", waiting_in(blocked));
    json::array keys;
    for (const auto& one : blocked.keys) {
        json::object entry{{"destination", text(one.key.destination)},
                           {"orderKey", text(one.key.order_key)}};
        set(entry, "tenant", one.key.tenant);
        set(entry, "waiting", one.waiting);
        entry["behind"] = to_json(one.by);
        keys.push_back(std::move(entry));
    }
    shown["keys"] = std::move(keys);
    return shown;
}

}  // namespace

json::object to_json(const outbox_overview& overview, wall_time now) {
    json::object shown;
    set(shown, "pending", overview.pending);
    set(shown, "failed", overview.dead);
    set(shown, "expired", overview.expired);
    set(shown, "resolved", overview.resolved);
    if (overview.sent) set(shown, "sent", *overview.sent);
    shown["oldestAgeMs"] = overview.oldest_age.count();
    shown["undeliverable"] = alarm(overview);
    shown["blocked"] = to_json(overview.blocked);
    json::array backlog;
    for (const auto& one : overview.backlog) {
        json::object entry{{"destination", text(one.destination)}};
        set(entry, "pending", one.pending);
        if (one.oldest) entry["oldestAgeMs"] = (now - *one.oldest).count();
        if (one.undeliverable.value > 0) set(entry, "undeliverable", one.undeliverable);
        backlog.push_back(std::move(entry));
    }
    shown["backlog"] = std::move(backlog);
    if (overview.more_destinations) shown["moreDestinations"] = true;
    return shown;
}

json::object to_json(const refused_call& call) {
    return {{"at", to_iso8601(call.at)},   {"messageId", call.id.to_string()},
            {"source", text(call.source)}, {"endpoint", text(call.endpoint)},
            {"status", call.status},       {"answer", text(call.answer)}};
}

json::object to_json(const peer_state& peer) {
    return {{"destination", text(peer.destination)},
            {"reachable", peer.reachable},
            {"since", to_iso8601(peer.since)}};
}

json::object to_json(const message_summary& row) {
    json::object shown{{"messageId", text(row.id)},
                       {"seq", row.seq},
                       {"messageType", text(row.type)},
                       {"destination", text(row.destination)},
                       {"endpoint", text(row.endpoint)},
                       {"status", to_string(row.status)},
                       {"retryCount", row.attempts},
                       {"maxRetries", row.max_retries},
                       {"createdAt", to_iso8601(row.created_at)},
                       {"expiresAt", to_iso8601(row.expires_at)}};
    if (row.is_parked())
        shown["parked"] = true;
    else if (row.status == outbox_status::pending)
        shown["nextRetryAt"] = to_iso8601(row.next_attempt_at);
    set(shown, "deliverAt", row.deliver_at);
    set(shown, "lastAttemptAt", row.last_attempt_at);
    set(shown, "sentAt", row.sent_at);
    set(shown, "lastError", row.last_error);
    set(shown, "resolution", row.resolution);
    set(shown, "correlationId", row.correlation_id);
    set(shown, "tenant", row.tenant);
    set(shown, "orderKey", row.order_key);
    set(shown, "causationId", row.causation_id);
    return shown;
}

json::object to_json(const message_list& page) {
    json::array rows;
    for (const auto& row : page.rows) rows.push_back(to_json(row));
    return {{"messages", std::move(rows)}, {"next", cursor(page.next)}};
}

json::object to_json(const message_detail& detail, bool with_payload) {
    auto shown = to_json(detail.summary);
    shown["contentType"] = text(detail.content_type);
    shown["payloadBytes"] = detail.payload_bytes;
    if (detail.waits_behind)
        shown["waitsBehind"] = to_json(*detail.waits_behind);
    else if (shown.erase("parked") > 0)  // A retry at its expiry, as it turns out.
        shown["nextRetryAt"] = to_iso8601(detail.summary.next_attempt_at);
    json::array attempts;
    for (const auto& one : detail.attempts)
        attempts.push_back(json::object{
            {"attempt", one.number}, {"at", to_iso8601(one.at)}, {"error", text(one.error)}});
    shown["attempts"] = std::move(attempts);
    if (with_payload) {
        // As the text that it is: it need not be JSON, and what it is worth must not change.
        shown["payload"] = text(detail.payload);
        set(shown, "headers", detail.headers);
    }
    return shown;
}

json::object to_json(const inbox_overview& overview) {
    json::object shown;
    set(shown, "size", overview.size);
    shown["processed"] = overview.processed;
    shown["duplicates"] = overview.duplicates;
    // The library would write a zero as 0E0.
    if (overview.duplicate_rate > 0)
        shown["duplicateRate"] = overview.duplicate_rate;
    else
        shown["duplicateRate"] = 0;
    return shown;
}

json::object to_json(const inbox_list& page) {
    json::array rows;
    for (const auto& row : page.rows) {
        json::object entry{{"messageId", text(row.id)},
                           {"seq", row.seq},
                           {"sourceServiceId", text(row.source)},
                           {"endpoint", text(row.endpoint)},
                           {"expiresAt", to_iso8601(row.expires_at)}};
        set(entry, "processedAt", row.processed_at);
        set(entry, "claimedUntil", row.claimed_until);
        rows.push_back(std::move(entry));
    }
    return {{"messages", std::move(rows)}, {"next", cursor(page.next)}};
}

json::object to_json(const health_verdict& verdict, const outbox_overview& outbox) {
    json::array reasons;
    for (const auto& why : verdict.reasons) reasons.push_back(json::value(text(why)));
    json::object counts{{"oldestAgeMs", outbox.oldest_age.count()}};
    set(counts, "pending", outbox.pending);
    set(counts, "failed", outbox.dead);
    set(counts, "expired", outbox.expired);
    set(counts, "blocked", waiting_in(outbox.blocked));
    json::object shown{{"status", to_string(verdict.status)},
                       {"working", verdict.working},
                       {"reasons", std::move(reasons)},
                       {"outbox", std::move(counts)}};
    shown["undeliverable"] = alarm(outbox);
    return shown;
}

}  // namespace posthorn
