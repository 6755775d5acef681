#include "operations/links.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/bounded_sum.hpp"
#include "base/text/utf8.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn {
namespace {

constexpr std::size_t name_characters_max = 2000;

constexpr std::string_view sent_sql =
    "SELECT message_id, destination, endpoint, status, created_at, causation_id, seq"
    " FROM outbox_messages WHERE message_id = ?";

// One jump of the index for each service that has sent something.
constexpr std::string_view sources_sql =
    "WITH RECURSIVE names(name) AS (SELECT min(source_service_id) FROM inbox_messages"
    " UNION ALL SELECT (SELECT min(source_service_id) FROM inbox_messages"
    " WHERE source_service_id > names.name) FROM names WHERE names.name IS NOT NULL)"
    " SELECT name FROM names WHERE name IS NOT NULL LIMIT 1000";

constexpr std::string_view taken_sql =
    "SELECT source_service_id, endpoint, processed_at, claim_until FROM inbox_messages"
    " WHERE source_service_id = ? AND message_id = ?";

// Each from its end of the table: SQLite would look at every row for both at once.
constexpr std::string_view ends_sql =
    "SELECT (SELECT min(seq) FROM outbox_messages), (SELECT max(seq) FROM outbox_messages)";
constexpr std::string_view next_sql =
    "SELECT seq, created_at FROM outbox_messages WHERE seq >= ? ORDER BY seq LIMIT 1";

constexpr std::string_view caused_sql =
    "SELECT message_id, destination, endpoint, status, created_at, causation_id, seq FROM"
    " (SELECT message_id, destination, endpoint, status, created_at, causation_id, seq"
    " FROM outbox_messages WHERE seq >= ?1 ORDER BY seq LIMIT ?2) AS later"
    " WHERE causation_id = ?3 ORDER BY seq LIMIT ?4";

// Clocks of a row and of its neighbours may differ by so much.
constexpr std::chrono::minutes slack{1};

std::int64_t count_of(wall_time time) { return time.time_since_epoch().count(); }
std::string name_of(const sql_row& row, std::size_t at) {
    return clean_utf8(row.text(at), name_characters_max);
}

linked_message read_sent(const sql_row& row) {
    return {.id = name_of(row, 0),
            .destination = name_of(row, 1),
            .endpoint = name_of(row, 2),
            .status = name_of(row, 3),
            .created_at = bounded_from_ms(row.integer(4))};
}

taken_message read_taken(const sql_row& row) {
    taken_message one{.source = name_of(row, 0), .endpoint = name_of(row, 1)};
    if (!row.is_null(2)) one.processed_at = bounded_from_ms(row.integer(2));
    if (!row.is_null(3)) one.claimed_until = bounded_from_ms(row.integer(3));
    return one;
}

/// One message, as the outbox and the inbox have it.
struct known_message {
    std::optional<linked_message> sent{};
    std::string cause_id{};
    std::vector<taken_message> taken{};
};

result<> look_for(store_reader& from, std::string_view id, known_message& into) {
    const std::array<sql_param, 1> by_id{id};
    POSTHORN_TRY(from.query(sent_sql, by_id, [&](const sql_row& row) {
        into.sent = read_sent(row);
        if (!row.is_null(5)) into.cause_id = name_of(row, 5);
    }));
    std::vector<std::string> sources;
    POSTHORN_TRY(from.query(sources_sql, {},
                            [&](const sql_row& row) { sources.emplace_back(row.text(0)); }));
    for (const auto& source : sources) {
        const std::array<sql_param, 2> by_key{std::string_view(source), id};
        POSTHORN_TRY(from.query(
            taken_sql, by_key, [&](const sql_row& row) { into.taken.push_back(read_taken(row)); }));
    }
    return {};
}

/// The first row from a time on, since rows come in the order of their times but for some moments.
result<std::int64_t> first_since(store_reader& from, wall_time since) {
    std::int64_t low = 1;
    std::int64_t high = 0;
    POSTHORN_TRY(from.query(ends_sql, {}, [&](const sql_row& row) {
        if (row.is_null(0)) return;
        low = row.integer(0);
        high = row.integer(1);
    }));
    while (low < high) {
        const auto middle = std::midpoint(low, high);
        const std::array<sql_param, 1> at{middle};
        std::int64_t seen = high;
        bool is_before = false;
        POSTHORN_TRY(from.query(next_sql, at, [&](const sql_row& row) {
            seen = row.integer(0);
            is_before = row.integer(1) < count_of(since);
        }));
        if (is_before)
            low = bounded_sum(seen, 1);
        else
            high = middle;
    }
    return low;
}

result<> look_for_caused(store_reader& from, std::string_view id, wall_time since,
                         const link_limits& limits, message_links& into) {
    POSTHORN_LET(first, first_since(from, since));
    const std::array<sql_param, 4> with{first, limits.rows_max, id, limits.caused_max};
    std::int64_t found = 0;
    POSTHORN_TRY(from.query(caused_sql, with, [&](const sql_row& row) {
        into.caused.push_back(read_sent(row));
        ++found;
    }));
    std::int64_t last = 0;
    POSTHORN_TRY(from.query(
        ends_sql, {}, [&](const sql_row& row) { last = row.is_null(1) ? 0 : row.integer(1); }));
    if (found == limits.caused_max || bounded_difference(last, first) >= limits.rows_max)
        into.more = true;
    return {};
}

/// Nothing was caused before its cause was made or done here.
std::optional<wall_time> begin_of(const known_message& one) {
    std::optional<wall_time> begun;
    const auto take = [&](wall_time at) { begun = begun ? std::min(*begun, at) : at; };
    if (one.sent) take(one.sent->created_at);
    for (const auto& each : one.taken)
        if (const auto at = each.processed_at ? each.processed_at : each.claimed_until)
            take(*at - std::chrono::hours{each.processed_at ? 0 : 1});
    return begun;
}

result<known_message> look_in_all(const std::vector<store*>& stores, std::string_view id) {
    known_message found;
    for (auto* const where : stores)
        POSTHORN_TRY(where->read([&](store_reader& from) { return look_for(from, id, found); }));
    return found;
}

}  // namespace

result<message_links> find_links(const std::vector<store*>& stores, const uuid& id,
                                 const link_limits& limits) {
    const auto text = id.to_string();
    POSTHORN_LET(known, look_in_all(stores, text));
    message_links links{.sent = known.sent, .cause_id = known.cause_id, .taken = known.taken};
    if (!known.cause_id.empty()) {
        POSTHORN_LET(cause, look_in_all(stores, known.cause_id));
        links.cause_sent = std::move(cause.sent);
        if (!cause.taken.empty()) links.cause_taken = cause.taken.front();
    }
    const auto begun = begin_of(known);
    if (!begun) return links;
    for (auto* const where : stores)
        POSTHORN_TRY(where->read([&](store_reader& from) {
            return look_for_caused(from, text, *begun - slack, limits, links);
        }));
    return links;
}

}  // namespace posthorn
