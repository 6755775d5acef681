#include "webhook/attempt_page.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "store/rows/stored_time.hpp"
#include "webhook/routes/endpoint_health.hpp"

namespace posthorn {
namespace {

constexpr std::string_view columns =
    "seq, substr(id, 1, 100) AS id, substr(message_id, 1, 100) AS message_id, attempt, status,"
    " http_status, substr(answer, 1, 4000) AS answer, substr(error, 1, 4000) AS error, duration_ms,"
    " at";
constexpr std::int64_t looked_at_max = 10'000;

listed_attempt read(const sql_row& row, const uuid& subscription) {
    listed_attempt one{.seq = row.integer(0),
                       .body = {.id = uuid::parse(row.text(1)).value_or(uuid{}),
                                .event = uuid::parse(row.text(2)).value_or(uuid{}),
                                .subscription = subscription,
                                .number = static_cast<std::int32_t>(std::clamp<std::int64_t>(
                                    row.integer(3), 0, std::numeric_limits<std::int32_t>::max())),
                                .what = static_cast<webhook_attempt::state>(
                                    std::clamp<std::int64_t>(row.integer(4), 0, 3)),
                                .answer = std::string(row.text(6)),
                                .error = std::string(row.text(7)),
                                .took_ms = row.integer(8),
                                .at = bounded_from_ms(row.integer(9))}};
    if (!row.is_null(5)) one.body.http_status = row.integer(5);
    return one;
}

result<> name_types(store_reader& from, std::vector<listed_attempt>& all) {
    std::set<uuid> events;
    for (const auto& each : all) events.insert(each.body.event);
    POSTHORN_LET(types, read_event_types(from, events));
    for (auto& each : all)
        if (const auto found = types.find(each.body.event); found != types.end())
            each.event_type = found->second;
    return {};
}

}  // namespace

result<std::vector<listed_attempt>> read_attempts(store_reader& from, const attempt_query& asked) {
    const auto id = asked.subscription.to_string();
    std::vector<sql_param> with{std::string_view(id)};
    std::string which = "WHERE subscription_id = ?";
    if (asked.before) {
        which += " AND (at, seq) < (SELECT at, seq FROM webhook_attempts WHERE seq = ?)";
        with.emplace_back(*asked.before);
    }
    auto sql = fmt::format("SELECT {} FROM webhook_attempts {} ORDER BY at DESC, seq DESC LIMIT ?",
                           columns, which);
    if (asked.failed_only) {
        with.emplace_back(looked_at_max);
        sql = fmt::format(
            "SELECT {} FROM ({}) AS newest WHERE status <> 1 ORDER BY at DESC, seq DESC"
            " LIMIT ?",
            columns, sql);
    }
    with.emplace_back(asked.limit);
    std::vector<listed_attempt> all;
    POSTHORN_TRY(from.query(
        sql, with, [&](const sql_row& row) { all.push_back(read(row, asked.subscription)); }));
    POSTHORN_TRY(name_types(from, all));
    return all;
}

result<std::vector<listed_attempt>> read_attempts_of_event(store_reader& from, const uuid& event,
                                                           std::optional<std::int64_t> after,
                                                           std::int64_t limit) {
    const auto id = event.to_string();
    std::vector<sql_param> with{std::string_view(id)};
    std::string which = "WHERE message_id = ?";
    if (after) {
        which += " AND (attempt, seq) > (SELECT attempt, seq FROM webhook_attempts WHERE seq = ?)";
        with.emplace_back(*after);
    }
    with.emplace_back(limit);
    std::vector<listed_attempt> all;
    POSTHORN_TRY(from.query(
        fmt::format("SELECT {}, subscription_id FROM webhook_attempts {} ORDER BY attempt, seq"
                    " LIMIT ?",
                    columns, which),
        with, [&](const sql_row& row) {
            all.push_back(read(row, uuid::parse(row.text(10)).value_or(uuid{})));
        }));
    POSTHORN_TRY(name_types(from, all));
    return all;
}

result<std::optional<listed_attempt>> find_attempt(store_reader& from, const uuid& subscription,
                                                   std::int64_t seq) {
    const auto of = subscription.to_string();
    const std::array<sql_param, 2> with{seq, std::string_view(of)};
    std::vector<listed_attempt> found;
    POSTHORN_TRY(from.query(
        fmt::format("SELECT {} FROM webhook_attempts WHERE seq = ? AND subscription_id = ?",
                    columns),
        with, [&](const sql_row& row) { found.push_back(read(row, subscription)); }));
    POSTHORN_TRY(name_types(from, found));
    if (found.empty()) return std::optional<listed_attempt>{};
    return std::optional(std::move(found.front()));
}

}  // namespace posthorn
