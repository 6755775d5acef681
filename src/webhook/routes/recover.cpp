#include "webhook/routes/recover.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>

#include "store/dead_letters.hpp"
#include "webhook/fan_out.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

constexpr std::int64_t events_in_slice = 250;
constexpr auto failed_in_slice = static_cast<std::int64_t>(dead_slice_rows);
constexpr auto far_past = std::numeric_limits<std::int64_t>::min();
constexpr auto far_future = std::numeric_limits<std::int64_t>::max();

std::int64_t ms(const std::optional<wall_time>& time, std::int64_t unless_given) {
    return time ? time->time_since_epoch().count() : unless_given;
}

/// Those of the ids that a message has. `Source` is a reader or a transaction.
template <class Source>
result<std::set<std::string, std::less<>>> known_among(Source& from,
                                                       const std::vector<std::string>& ids) {
    std::set<std::string, std::less<>> known;
    if (ids.empty()) return known;
    std::string sql = "SELECT message_id FROM outbox_messages WHERE message_id IN (?";
    for (std::size_t i = 1; i < ids.size(); ++i) sql += ", ?";
    sql += ")";
    const std::vector<sql_param> with(ids.begin(), ids.end());
    POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) { known.emplace(row.text(0)); }));
    return known;
}

struct found_event {
    message body;  // Without its payload.
    bool is_fanned_out = false;
    event_place at;
};

found_event read_event(const sql_row& row) {
    found_event found;
    found.at = {.at_ms = row.integer(0), .seq = row.integer(1)};
    auto& body = found.body;
    body.id = uuid::parse(row.text(2)).value_or(uuid{});
    body.endpoint = row.text(3);
    body.tenant = row.text(4);
    body.correlation_id = row.text(5);
    body.order_key = row.text(6);
    body.priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(row.integer(7), 0, 9));
    found.is_fanned_out = row.text(8) == "Sent" && !body.id.is_nil();
    return found;
}

result<std::vector<found_event>> read_events(store_reader& from, const recover_window& when,
                                             event_place after) {
    std::vector<found_event> events;
    const std::array<sql_param, 4> with{after.at_ms, after.seq, ms(when.until, far_future),
                                        events_in_slice};
    POSTHORN_TRY(from.query(
        "SELECT created_at, seq, message_id, endpoint, tenant, correlation_id, order_key, priority,"
        " status FROM outbox_messages WHERE destination = 'webhooks'"
        " AND (created_at, seq) > (?, ?) AND created_at < ? ORDER BY created_at, seq LIMIT ?",
        with, [&](const sql_row& row) { events.push_back(read_event(row)); }));
    return events;
}

/// What decides whether a subscription is told of an event; its payload only where a filter asks.
result<webhook_event> read_for_filter(store_reader& from, const message& event,
                                      const subscription_set::target& of) {
    if (of->filter.asks()) {
        POSTHORN_LET(whole, from.outbox().find(event.id));
        if (whole) return event_of(whole->body);
    }
    return event_of(event);
}

}  // namespace

result<failed_deliveries> count_failed(store_reader& from, const uuid& subscription,
                                       const recover_window& when) {
    const auto destination = destination_of(subscription);
    const std::array<sql_param, 3> with{std::string_view(destination), ms(when.since, far_past),
                                        ms(when.until, far_future)};
    failed_deliveries seen;
    POSTHORN_TRY(from.query(
        "SELECT c.status, count(*) FROM outbox_closed c JOIN outbox_messages m ON m.seq = c.seq"
        " WHERE c.status IN ('Dead', 'Expired') AND m.destination = ? AND m.created_at >= ?"
        " AND m.created_at < ? GROUP BY c.status",
        with, [&](const sql_row& row) {
            (row.text(0) == "Dead" ? seen.dead : seen.expired) = row.integer(1);
        }));
    return seen;
}

result<failed_slice> find_failed(store_reader& from, const uuid& subscription, outbox_status status,
                                 const recover_window& when, std::int64_t after) {
    const auto destination = destination_of(subscription);
    const std::array<sql_param, 6> with{to_string(status),
                                        after,
                                        std::string_view(destination),
                                        ms(when.since, far_past),
                                        ms(when.until, far_future),
                                        failed_in_slice};
    std::vector<uuid> ids;
    std::int64_t rows = 0;
    std::int64_t last = 0;
    POSTHORN_TRY(from.query(
        "SELECT m.message_id, c.seq FROM outbox_closed c JOIN outbox_messages m ON m.seq = c.seq"
        " WHERE c.status = ? AND c.seq > ? AND m.destination = ? AND m.created_at >= ?"
        " AND m.created_at < ? ORDER BY c.seq LIMIT ?",
        with, [&](const sql_row& row) {
            if (const auto id = uuid::parse(row.text(0))) ids.push_back(*id);
            last = row.integer(1);
            ++rows;
        }));
    failed_slice found{.status = status, .next = rows == failed_in_slice ? last : 0};
    for (const auto& id : ids) {
        message one;
        one.id = id;
        if (status == outbox_status::expired) {
            POSTHORN_LET(row, from.outbox().find(id));
            if (!row) continue;
            one = std::move(row->body);
        }
        found.deliveries.push_back(std::move(one));
    }
    return found;
}

result<std::int64_t> try_again(store_transaction& tx, const failed_slice& some, wall_time now,
                               wall_time life_end) {
    std::int64_t number = 0;
    for (const auto& each : some.deliveries) {
        if (some.status == outbox_status::dead) {
            const auto id = each.id.to_string();
            const std::array<sql_param, 2> with{life_end.time_since_epoch().count(),
                                                std::string_view(id)};
            POSTHORN_TRY(
                tx.execute("UPDATE outbox_messages SET expires_at = ? WHERE message_id = ?"
                           " AND status = 'Dead'",
                           with));
            POSTHORN_LET(again, tx.outbox().requeue(each.id));
            number += again ? 1 : 0;
            continue;
        }
        // What has expired stays so, and another row takes its place. That is safe under the same
        // id: receivers know an event by its own id, and this one was not delivered.
        const auto gone = tx.dead_letters().change(each.id, {.what = dead_action::remove}, now);
        if (!gone && (gone.error().code() == error_code::not_found ||
                      gone.error().code() == error_code::state_changed))
            continue;
        POSTHORN_TRY(gone);
        auto anew = each;
        anew.expires_at = life_end;
        POSTHORN_TRY(tx.outbox().insert(std::move(anew)));
        ++number;
    }
    return number;
}

bool is_told(const recovered_subscription& one, const webhook_event& event,
             std::string_view tenant) {
    const auto& of = one.of->of;
    if (!covers(of.event_type, event.type)) return false;
    if (!of.is_configured && !one.of->filter.asks())
        return of.state != subscription_state::disabled &&
               (of.tenant.empty() || of.tenant == tenant);
    const auto told = one.among.of(event, tenant);
    return std::ranges::find(told, one.of) != told.end();
}

event_place begin_of(const recover_window& when) { return {.at_ms = ms(when.since, 0), .seq = 0}; }

result<missed_slice> find_missed(store_reader& from, const recovered_subscription& one,
                                 const recover_window& when, event_place after) {
    POSTHORN_LET(events, read_events(from, when, after));
    missed_slice found{.looked_at = std::ssize(events)};
    if (found.looked_at == events_in_slice) found.next = events.back().at;
    std::vector<std::string> ids;
    for (auto& each : events) {
        if (!each.is_fanned_out) continue;
        POSTHORN_LET(event, read_for_filter(from, each.body, one.of));
        if (!is_told(one, event, each.body.tenant)) continue;
        ids.push_back(child_id(each.body.id, one.of->of.id).to_string());
        found.events.push_back(std::move(each.body));
    }
    POSTHORN_LET(known, known_among(from, ids));
    std::erase_if(found.events, [&](const message& each) {
        return known.contains(child_id(each.id, one.of->of.id).to_string());
    });
    return found;
}

result<std::int64_t> insert_missed(store_transaction& tx, const std::vector<message>& deliveries) {
    std::vector<std::string> ids;
    for (const auto& each : deliveries) ids.push_back(each.id.to_string());
    POSTHORN_LET(known, known_among(tx, ids));
    std::int64_t number = 0;
    for (const auto& each : deliveries) {
        if (known.contains(each.id.to_string())) continue;
        POSTHORN_TRY(tx.outbox().insert(each));
        ++number;
    }
    return number;
}

}  // namespace posthorn
