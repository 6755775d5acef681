#include "store/postgres/tables/outbox_reading.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "store/rows/outbox_rows.hpp"
#include "store/statements/postgres_parts.hpp"

namespace posthorn::postgres {
namespace {

// The first pending message of each order key, and whether it is parked though nothing is in its
// way.
template <class Text>
consteval auto first_of_keys(const Text& after) {
    return joined(R"sql(
    WITH RECURSIVE walk AS (
        (SELECT destination, order_key, tenant, seq FROM {s}.outbox_due AS d
         WHERE order_key IS NOT NULL)sql",
                  after, R"sql(
         ORDER BY destination, order_key, tenant, seq LIMIT 1)
        UNION ALL SELECT n.* FROM walk AS w, LATERAL (
            SELECT destination, order_key, tenant, seq FROM {s}.outbox_due AS d
            WHERE order_key IS NOT NULL AND (d.destination, d.order_key, d.tenant) >
                (w.destination, w.order_key, w.tenant)
            ORDER BY destination, order_key, tenant, seq LIMIT 1) AS n)
    SELECT w.destination, w.order_key, w.tenant, w.seq, due.next_retry_at = due.expires_at
        AND NOT {s}.is_blocked(w.destination, w.tenant, w.order_key, w.seq)
    FROM (SELECT * FROM walk LIMIT $1) AS w JOIN {s}.outbox_due AS due USING (seq)
    ORDER BY 1, 2, 3)sql");
}
constexpr auto keys_from_top = first_of_keys("");
constexpr auto keys_after = first_of_keys(
    joined(" AND (d.destination, d.order_key, d.tenant) > ($2::text, $3::text, $4::text)"));
constexpr auto late_rows_by_seq = joined("SELECT ", outbox_late_columns, R"sql(
    FROM {s}.outbox_messages WHERE seq = ANY ($1::bigint[]) ORDER BY seq)sql");

}  // namespace

outbox_reading::outbox_reading(connection& database, outbox_rules rules)
    : outbox_looks(database, std::move(rules)),
      page_(database, message_rules()),
      arrivals_(database, "SELECT {s}.has_arrivals()"),
      expired_(database, R"sql(
          SELECT seq, tenant, priority, next_retry_at, expires_at FROM {s}.outbox_due
          WHERE destination = $1
          ORDER BY tenant, priority, next_retry_at, seq LIMIT $2)sql"),
      expired_after_(database, R"sql(
          SELECT seq, tenant, priority, next_retry_at, expires_at FROM {s}.outbox_due
          WHERE destination = $1 AND (tenant, priority, next_retry_at, seq) > ($3::text,
              $4::bigint, $5::bigint, $6::bigint)
          ORDER BY tenant, priority, next_retry_at, seq LIMIT $2)sql"),
      expired_rows_(database, late_rows_by_seq),
      keys_(database, keys_from_top),
      keys_after_(database, keys_after) {}

result<bool> outbox_reading::has_arrivals() {
    POSTHORN_LET(found, arrivals_.run());
    return found.front().integer(0) != 0;
}

result<expired_slice> outbox_reading::expired(const expired_question& asked) {
    const auto limit = static_cast<std::int64_t>(std::max<std::size_t>(asked.rows_max, 1));
    POSTHORN_LET(found, asked.after ? expired_after_.run(asked.destination, limit,
                                                         asked.after->tenant, asked.after->priority,
                                                         to_ms(asked.after->next_attempt_at),
                                                         asked.after->seq)
                                    : expired_.run(asked.destination, limit));
    expired_slice slice;
    std::vector<std::int64_t> late;
    const auto now = to_ms(asked.now);
    for (int i = 0; i < found.size(); ++i) {
        const auto row = found[i];
        const auto expires = row.integer(4);
        if (row.integer(3) <= now && expires != 0 && expires <= now) late.push_back(row.integer(0));
        if (i + 1 == found.size() && found.size() == limit)
            slice.last = pending_place{.tenant = std::string(row.text(1)),
                                       .priority = row.integer(2),
                                       .next_attempt_at = from_ms(row.integer(3)),
                                       .seq = row.integer(0)};
    }
    if (late.empty()) return slice;
    POSTHORN_LET(rows, expired_rows_.run(late));
    for (int i = 0; i < rows.size(); ++i) slice.rows.push_back(read_late(rows[i]));
    return slice;
}

result<unblocked_slice> outbox_reading::unblocked(const std::optional<order_scope>& after,
                                                  std::size_t keys_max) {
    const auto limit = static_cast<std::int64_t>(keys_max);
    POSTHORN_LET(found,
                 after ? keys_after_.run(limit, after->destination, after->order_key, after->tenant)
                       : keys_.run(limit));
    unblocked_slice slice;
    for (int i = 0; i < found.size(); ++i) {
        const auto row = found[i];
        if (row.integer(4) != 0) slice.seqs.push_back(row.integer(3));
        if (i + 1 == limit)
            slice.last = order_scope{.destination = std::string(row.text(0)),
                                     .order_key = std::string(row.text(1)),
                                     .tenant = std::string(row.text(2))};
    }
    return slice;
}

}  // namespace posthorn::postgres
