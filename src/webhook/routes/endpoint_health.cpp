#include "webhook/routes/endpoint_health.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

constexpr std::array<std::string_view, 5> words{"failing", "disabled", "paused", "delivering",
                                                "quiet"};
constexpr std::int64_t success = 1;
constexpr std::int64_t recent_max = 20;
constexpr std::int64_t dead_looked_at_max = 20'000;
constexpr std::int64_t typed_attempts_max = 500;
constexpr std::size_t ids_at_once = 250;
constexpr backlog_limits waiting_limits{
    .destinations_max = 2'000, .count_max = 10'000, .rows_max = 1};
constexpr std::chrono::minutes traffic_span{5};
constexpr std::int64_t traffic_attempts_max = 1'000;

/// Of columns status, http_status, at, the newest first.
void count(recent_attempts& seen, const sql_row& row) {
    const bool taken = row.integer(0) == success;
    ++(taken ? seen.delivered : seen.failed);
    if (seen.last_was_taken) return;
    seen.last_was_taken = taken;
    if (!row.is_null(1)) seen.last_status = row.integer(1);
    seen.last_at = bounded_from_ms(row.integer(2));
}

}  // namespace

std::string_view to_string(endpoint_health health) noexcept {
    return words[static_cast<std::size_t>(health)];
}

std::optional<endpoint_health> parse_endpoint_health(std::string_view text) {
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) return std::nullopt;
    return static_cast<endpoint_health>(found - words.begin());
}

endpoint_health judge_endpoint(subscription_state state, std::string_view trouble,
                               std::optional<bool> last_was_taken) {
    if (state == subscription_state::disabled) return endpoint_health::disabled;
    if (!trouble.empty()) return endpoint_health::failing;
    if (state == subscription_state::paused) return endpoint_health::paused;
    if (!last_was_taken) return endpoint_health::quiet;
    return *last_was_taken ? endpoint_health::delivering : endpoint_health::failing;
}

// Steps from one subscription to the next along the index: attempts of a month may be millions.
result<std::map<uuid, bool>> read_last_attempts(store_reader& from) {
    std::map<uuid, bool> all;
    POSTHORN_TRY(from.query(
        "WITH RECURSIVE tried(id) AS (SELECT min(subscription_id) FROM webhook_attempts UNION ALL"
        " SELECT (SELECT min(a.subscription_id) FROM webhook_attempts a"
        " WHERE a.subscription_id > tried.id) FROM tried WHERE tried.id IS NOT NULL)"
        " SELECT tried.id, (SELECT b.status FROM webhook_attempts b WHERE b.subscription_id ="
        " tried.id ORDER BY b.at DESC, b.seq DESC LIMIT 1) FROM tried WHERE tried.id IS NOT NULL",
        {}, [&](const sql_row& row) {
            if (const auto id = uuid::parse(row.text(0))) all[*id] = row.integer(1) == success;
        }));
    return all;
}

result<recent_attempts> read_recent_attempts(store_reader& from, const uuid& subscription) {
    recent_attempts seen;
    const auto text = subscription.to_string();
    const std::array<sql_param, 2> with{std::string_view(text), recent_max};
    POSTHORN_TRY(
        from.query("SELECT status, http_status, at FROM webhook_attempts"
                   " WHERE subscription_id = ? ORDER BY at DESC, seq DESC LIMIT ?",
                   with, [&](const sql_row& row) { count(seen, row); }));
    return seen;
}

namespace {

// Of an endpoint that is sent very much the newest attempts tell enough: they are counted over the
// time in which they were made.
result<> look_at_attempts(store_reader& from, const uuid& subscription, wall_time now,
                          endpoint_traffic& into) {
    const auto text = subscription.to_string();
    const wall_time begin = now - traffic_span;
    const std::array<sql_param, 4> with{success, std::string_view(text),
                                        std::int64_t{begin.time_since_epoch().count()},
                                        traffic_attempts_max};
    POSTHORN_TRY(from.query(
        "SELECT count(*), coalesce(sum(CASE WHEN status = ? THEN 1 ELSE 0 END), 0),"
        " coalesce(min(at), 0) FROM (SELECT status, at FROM webhook_attempts"
        " WHERE subscription_id = ? AND at >= ? ORDER BY at DESC LIMIT ?) AS newest",
        with, [&](const sql_row& row) {
            const auto attempts = row.integer(0), delivered = row.integer(1);
            std::chrono::milliseconds span = traffic_span;
            if (attempts == traffic_attempts_max)
                span = std::max<std::chrono::milliseconds>(now - bounded_from_ms(row.integer(2)),
                                                           std::chrono::seconds{1});
            const auto minutes = std::chrono::duration<double, std::ratio<60>>(span).count();
            into.delivered_per_minute = static_cast<double>(delivered) / minutes;
            into.failed_per_minute = static_cast<double>(attempts - delivered) / minutes;
        }));
    return {};
}

}  // namespace

result<waiting_deliveries> read_waiting_deliveries(store_reader& from, wall_time now) {
    POSTHORN_LET(backlog, from.inspect().backlog(now, waiting_limits));
    waiting_deliveries all{.more = backlog.more};
    for (auto& each : backlog.destinations)
        if (const auto id = subscription_of(each.destination))
            all.by_subscription.try_emplace(*id, std::move(each));
    return all;
}

result<endpoint_traffic> read_traffic(store_reader& from, const waiting_deliveries& waiting,
                                      const uuid& subscription, wall_time now) {
    endpoint_traffic seen;
    if (const auto found = waiting.by_subscription.find(subscription);
        found != waiting.by_subscription.end()) {
        seen.waiting = found->second.pending;
        seen.oldest = found->second.oldest;
    } else {
        seen.waiting.at_least = waiting.more;
    }
    POSTHORN_TRY(look_at_attempts(from, subscription, now, seen));
    return seen;
}

result<dead_deliveries> read_dead_deliveries(store_reader& from) {
    dead_deliveries all;
    std::int64_t seen = 0;
    const std::array<sql_param, 1> with{dead_looked_at_max};
    POSTHORN_TRY(from.query(
        "SELECT m.destination, count(*) FROM (SELECT seq FROM outbox_closed WHERE status = 'Dead'"
        " ORDER BY at DESC LIMIT ?) c JOIN outbox_messages m ON m.seq = c.seq"
        " GROUP BY m.destination",
        with, [&](const sql_row& row) {
            seen += row.integer(1);
            if (const auto id = subscription_of(row.text(0)))
                all.by_subscription[*id] = row.integer(1);
        }));
    all.at_least = seen == dead_looked_at_max;
    return all;
}

result<std::int64_t> count_dead_deliveries(store_reader& from, const uuid& subscription) {
    const auto destination = destination_of(subscription);
    const std::array<sql_param, 1> with{std::string_view(destination)};
    std::int64_t number = 0;
    POSTHORN_TRY(
        from.query("SELECT count(*) FROM outbox_messages WHERE destination = ? AND status = 'Dead'",
                   with, [&](const sql_row& row) { number = row.integer(0); }));
    return number;
}

result<std::map<uuid, std::string>> read_event_types(store_reader& from,
                                                     const std::set<uuid>& events) {
    std::map<uuid, std::string> types;
    for (auto next = events.begin(); next != events.end();) {
        std::vector<std::string> some;
        std::string sql = "SELECT message_id, endpoint FROM outbox_messages WHERE message_id IN (";
        for (; next != events.end() && some.size() < ids_at_once; ++next) {
            sql += some.empty() ? "?" : ", ?";
            some.push_back(next->to_string());
        }
        sql += ")";
        const std::vector<sql_param> with(some.begin(), some.end());
        POSTHORN_TRY(from.query(sql, with, [&](const sql_row& row) {
            if (const auto id = uuid::parse(row.text(0))) types[*id] = row.text(1);
        }));
    }
    return types;
}

result<std::vector<seen_type>> read_seen_types(store_reader& from, const uuid& subscription) {
    const auto text = subscription.to_string();
    const std::array<sql_param, 2> with{std::string_view(text), typed_attempts_max};
    std::map<uuid, std::pair<std::int64_t, wall_time>> tried;
    std::set<uuid> events;
    POSTHORN_TRY(
        from.query("SELECT message_id, at FROM webhook_attempts WHERE subscription_id = ?"
                   " ORDER BY at DESC, seq DESC LIMIT ?",
                   with, [&](const sql_row& row) {
                       const auto id = uuid::parse(row.text(0));
                       if (!id) return;
                       events.insert(*id);
                       auto& [attempts, last] = tried[*id];
                       ++attempts;
                       last = std::max(last, bounded_from_ms(row.integer(1)));
                   }));
    POSTHORN_LET(types, read_event_types(from, events));
    std::map<std::string, seen_type> all;
    for (const auto& [event, type] : types) {
        auto& one = all.try_emplace(type, seen_type{.type = type}).first->second;
        one.attempts += tried[event].first;
        one.last_at = std::max(one.last_at, tried[event].second);
    }
    std::vector<seen_type> listed;
    for (auto& [name, one] : all) listed.push_back(std::move(one));
    std::ranges::sort(listed, [](const seen_type& a, const seen_type& b) {
        return std::tie(b.last_at, a.type) < std::tie(a.last_at, b.type);
    });
    return listed;
}

}  // namespace posthorn
