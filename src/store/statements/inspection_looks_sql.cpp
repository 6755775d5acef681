#include "store/statements/inspection_looks_sql.hpp"

#include "store/statements/postgres_parts.hpp"
#include "store/statements/sqlite_parts.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn {
namespace sqlite {
namespace {

constexpr auto count_closed = joined(R"sql(
    SELECT count(*) FROM (SELECT 1 FROM outbox_messages WHERE status = ?1 AND )sql",
                                     is_closed("status"), " LIMIT ?2)");
constexpr auto detail_by_id = joined("SELECT ", summary_columns, R"sql(,
        length(CAST(payload AS BLOB)), substr(content_type, 1, 4096), CASE WHEN ?2 THEN )sql",
                                     unless_longer("payload", content_bytes_shown_max), " END, ",
                                     unless_longer("headers", content_bytes_shown_max), R"sql(
    FROM outbox_messages WHERE message_id = ?1)sql");
// The first one in the way, of those in one state; the index of order keys has it.
template <class State>
consteval auto first_in_the_way(const State& state) {
    return joined(R"sql(
    SELECT * FROM (SELECT earlier.seq, earlier.message_id, earlier.status, earlier.destination
        FROM outbox_messages AS mine JOIN outbox_messages AS earlier
        ON )sql",
                  shares_key("earlier", "mine", state), R"sql( AND earlier.seq < mine.seq
        WHERE mine.seq = ?1 AND mine.status = 'Pending' AND mine.order_key <> ''
        ORDER BY earlier.seq LIMIT 1))sql");
}
constexpr auto what_is_in_the_way = joined(
    R"sql(
    SELECT message_id, found.status, closed.at, found.seq FROM ()sql",
    first_in_the_way("'Dead'"), " UNION ALL ", first_in_the_way("'Expired'"), " UNION ALL ",
    first_in_the_way("'Pending'"), R"sql() AS found
    LEFT JOIN outbox_closed AS closed ON closed.seq = found.seq
    WHERE found.status = 'Pending' OR )sql",
    parks_followers("found"));
template <class State>
consteval auto given_up(const State& state) {
    return joined(R"sql(
        SELECT * FROM (SELECT seq, destination, order_key, coalesce(tenant, '') AS tenant
            FROM outbox_messages WHERE status = )sql",
                  state, " AND ", is_closed("status"), " ORDER BY seq LIMIT ?1)");
}
// Dead and expired ones are few, and pending ones may be very many; so it begins with the former.
constexpr auto blocked_keys = joined("WITH looked AS MATERIALIZED (", given_up("'Dead'"),
                                     " UNION ALL ", given_up("'Expired'"), R"sql(),
    earliest AS (SELECT destination, order_key, tenant, min(seq) AS seq
        FROM looked WHERE order_key <> '' GROUP BY destination, order_key, tenant),
    blocking AS (SELECT * FROM earliest
        WHERE )sql",
                                     parks_followers("earliest"), R"sql( AND EXISTS (
            SELECT 1 FROM outbox_messages AS later
            WHERE )sql",
                                     shares_key("later", "earliest", "'Pending'"), R"sql(
              AND later.seq > earliest.seq)
        ORDER BY seq LIMIT ?2)
    SELECT blocking.destination, blocking.order_key, blocking.tenant,
        first.message_id, first.status, closed.at,
        (SELECT count(*) FROM (SELECT 1 FROM outbox_messages AS later
            WHERE )sql",
                                     shares_key("later", "blocking", "'Pending'"), R"sql(
              AND later.seq > blocking.seq LIMIT ?3)),
        (SELECT count(*) FROM looked)
    FROM blocking JOIN outbox_messages AS first ON first.seq = blocking.seq
        LEFT JOIN outbox_closed AS closed ON closed.seq = blocking.seq
    ORDER BY blocking.seq)sql");

}  // namespace
}  // namespace sqlite

namespace postgres {
namespace {

constexpr auto detail_by_id = joined("SELECT ", summary_columns, R"sql(,
        coalesce(octet_length(payload_bytes), octet_length(payload))::bigint,
        substr(content_type, 1, 4096), CASE WHEN $2::bigint <> 0 THEN )sql",
                                     payload_unless_longer(content_bytes_shown_max), " END, ",
                                     headers_unless_longer(content_bytes_shown_max), R"sql(
    FROM {s}.outbox_messages WHERE message_id = $1)sql");
template <class Other, class Row>
consteval auto shares_key(const Other& other, const Row& row) {
    return joined(other, ".destination = ", row, ".destination AND ", other, ".order_key = ", row,
                  ".order_key AND ", other, ".tenant = ", row, ".tenant");
}
template <class Row>
consteval auto parks_followers(const Row& row) {  // As is_blocked has it.
    return joined("(NOT starts_with(", row, R"sql(.destination, 'webhook:') AND NOT EXISTS (
        SELECT 1 FROM {s}.posthorn_meta WHERE name = 'order_policy' AND value = 'pass')))sql");
}
constexpr auto what_is_in_the_way = joined(R"sql(
    WITH mine AS (SELECT seq, destination, order_key, tenant FROM {s}.outbox_due
        WHERE seq = $1 AND order_key IS NOT NULL),
    found AS (
        (SELECT earlier.seq, earlier.at FROM mine JOIN {s}.outbox_closed AS earlier ON )sql",
                                           shares_key("earlier", "mine"), R"sql(
            AND earlier.status IN ('Dead', 'Expired') AND earlier.seq < mine.seq
         WHERE )sql",
                                           parks_followers("mine"), R"sql( ORDER BY seq LIMIT 1)
        UNION ALL
        (SELECT earlier.seq, NULL::bigint FROM mine JOIN {s}.outbox_due AS earlier ON )sql",
                                           shares_key("earlier", "mine"), R"sql(
            AND earlier.seq < mine.seq ORDER BY seq LIMIT 1))
    SELECT m.message_id, m.status, found.at, seq
    FROM found JOIN {s}.outbox_messages AS m USING (seq))sql");
// Messages with an order key have their row in outbox_due from their beginning.
constexpr auto blocked_keys = joined(R"sql(
    WITH looked AS MATERIALIZED (
        SELECT destination, order_key, tenant, seq FROM {s}.outbox_closed
        WHERE order_key IS NOT NULL AND status IN ('Dead', 'Expired')
        ORDER BY destination, order_key, tenant, seq LIMIT $1),
    earliest AS (SELECT destination, order_key, tenant, min(seq) AS seq
        FROM looked GROUP BY destination, order_key, tenant),
    blocking AS (SELECT * FROM earliest
        WHERE )sql",
                                     parks_followers("earliest"), R"sql( AND EXISTS (
            SELECT 1 FROM {s}.outbox_due AS later WHERE )sql",
                                     shares_key("later", "earliest"), R"sql(
              AND later.seq > earliest.seq)
        ORDER BY seq LIMIT $2)
    SELECT blocking.destination, blocking.order_key, blocking.tenant,
        m.message_id, m.status, closed.at,
        (SELECT count(*) FROM (SELECT 1 FROM {s}.outbox_due AS later WHERE )sql",
                                     shares_key("later", "blocking"), R"sql(
              AND later.seq > blocking.seq LIMIT $3) AS part),
        (SELECT count(*) FROM looked)
    FROM blocking JOIN {s}.outbox_messages AS m USING (seq)
        JOIN {s}.outbox_closed AS closed USING (seq)
    ORDER BY blocking.seq)sql");

}  // namespace
}  // namespace postgres

constinit const inspection_looks_sql inspection_looks_texts{
    .count_pending = {.sqlite = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM outbox_messages
              WHERE status = 'Pending' AND destination >= '' LIMIT ?))sql",
                      .postgres = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM {s}.outbox_pending LIMIT $1) AS part)sql"},
    .count_sent = {.sqlite = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM outbox_messages INDEXED BY idx_outbox_sent
              WHERE status = 'Sent' LIMIT ?))sql",
                   .postgres = R"sql(
          SELECT count(*)
          FROM (SELECT 1 FROM {s}.outbox_messages WHERE status = 'Sent' LIMIT $1) AS part)sql"},
    .count_closed = {.sqlite = sqlite::count_closed, .postgres = R"sql(
          SELECT count(*)
          FROM (SELECT 1 FROM {s}.outbox_closed WHERE status = $1 LIMIT $2) AS part)sql"},
    // Of all that are dead and those that are deliveries; by their
    // causes too, since there may be more than are counted.
    .count_dead_messages = {.sqlite = R"sql(
          SELECT max((SELECT count(*) FROM (SELECT 1 FROM outbox_messages
                  WHERE status = 'Dead' AND status <> 'Pending' AND status <> 'Sent' LIMIT ?))
              - (SELECT coalesce(sum(min(dead, 1000000000000)), 0) FROM outbox_causes
                  WHERE dead > 0 AND destination GLOB 'webhook:*')
              - (SELECT count(*) FROM outbox_closed AS closed JOIN outbox_messages USING (seq)
                  WHERE closed.status = 'Dead' AND cause_id IS NULL
                    AND destination GLOB 'webhook:*'),
              (SELECT coalesce(sum(min(dead, 1000000000000)), 0) FROM outbox_causes
                  WHERE dead > 0 AND destination NOT GLOB 'webhook:*')))sql",
                            .postgres = R"sql(
          SELECT greatest((SELECT count(*) FROM
                  (SELECT 1 FROM {s}.outbox_closed WHERE status = 'Dead' LIMIT $1) AS part)
              - (SELECT coalesce(sum(least(dead, 1000000000000)), 0) FROM {s}.outbox_causes
                  WHERE dead > 0 AND starts_with(destination, 'webhook:'))
              - (SELECT count(*) FROM {s}.outbox_closed WHERE status = 'Dead'
                  AND cause_id IS NULL AND starts_with(destination, 'webhook:')),
              (SELECT coalesce(sum(least(dead, 1000000000000)), 0) FROM {s}.outbox_causes
                  WHERE dead > 0 AND NOT starts_with(destination, 'webhook:')))::bigint)sql"},
    .show = {.sqlite = sqlite::detail_by_id, .postgres = postgres::detail_by_id},
    .attempts = both<R"sql(
          SELECT attempt, at, substr(error, 1, 4096) FROM {s}.outbox_attempts
          WHERE seq = ?1
          ORDER BY attempt DESC LIMIT ?2)sql">,
    .waits_behind = {.sqlite = sqlite::what_is_in_the_way,
                     .postgres = postgres::what_is_in_the_way},
    .blocked = {.sqlite = sqlite::blocked_keys, .postgres = postgres::blocked_keys},
    .newest = {.sqlite = R"sql(
          SELECT max(
              coalesce((SELECT at FROM changes
                  WHERE change_seq = (SELECT max(change_seq) FROM changes)), 0),
              coalesce((SELECT created_at FROM outbox_messages
                  WHERE seq = (SELECT max(seq) FROM outbox_messages)), 0)))sql",
               .postgres = R"sql(
          SELECT greatest(0::bigint,
              (SELECT at FROM {s}.changes ORDER BY change_seq DESC LIMIT 1),
              (SELECT created_at FROM {s}.outbox_messages ORDER BY seq DESC LIMIT 1)))sql"},
    .highest = both<"SELECT max(seq) FROM {s}.outbox_messages">,
    .times_from = both<R"sql(
          SELECT created_at FROM {s}.outbox_messages WHERE seq >= ?1
          ORDER BY seq LIMIT ?2)sql">,
    .inbox_count = {.sqlite = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM inbox_messages INDEXED BY idx_inbox_expires
              LIMIT ?))sql",
                    .postgres = R"sql(
          SELECT count(*) FROM (SELECT 1 FROM {s}.inbox_messages LIMIT $1) AS part)sql"},
    .inbox_ends = both<R"sql(
          SELECT (SELECT min(seq) FROM {s}.inbox_messages), (SELECT max(seq) FROM
              {s}.inbox_messages))sql">};

}  // namespace posthorn
