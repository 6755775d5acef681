#include "store/statements/order_rules_sql.hpp"

#include "store/statements/postgres_parts.hpp"
#include "store/statements/sqlite_parts.hpp"
#include "store/statements/sqlite_states.hpp"

namespace posthorn {
namespace sqlite {
namespace {

constexpr auto due_row_by_seq =
    joined("SELECT ", outbox_columns,
           " FROM outbox_messages WHERE seq = ?1 AND status = 'Pending' AND next_retry_at <= ?2");
constexpr auto head_of_key = joined(R"sql(
    SELECT seq FROM outbox_messages
    WHERE destination = ?1 AND order_key = ?2 AND coalesce(tenant, '') = ?3
      AND status = 'Pending' AND order_key IS NOT NULL AND )sql",
                                    is_undone("status"), " ORDER BY seq LIMIT 1");
// A retry that would come past the expiry stands at the expiry too; then it comes sooner.
constexpr auto release_parked = joined(R"sql(
    UPDATE outbox_messages AS follower SET next_retry_at = coalesce(deliver_at, 0)
    WHERE seq = ? AND status = 'Pending' AND next_retry_at = expires_at AND order_key <> ''
      AND NOT )sql",
                                       follower_is_blocked);
constexpr auto place_pending = joined(R"sql(
    UPDATE outbox_messages AS follower
    SET next_retry_at = CASE WHEN order_key <> '' AND )sql",
                                      follower_is_blocked, R"sql(
        THEN expires_at ELSE coalesce(deliver_at, 0) END
    WHERE seq = ? AND status = 'Pending')sql");

}  // namespace
}  // namespace sqlite

namespace postgres {
namespace {

constexpr auto due_row_by_seq = joined("SELECT ", outbox_columns, R"sql(
    FROM {s}.outbox_messages WHERE seq = $1 AND status = 'Pending' AND next_retry_at <= $2)sql");
// A retry that would come past the expiry stands at the expiry too; then it comes sooner.
constexpr auto release_parked = joined(R"sql(
    UPDATE {s}.outbox_messages AS m SET next_retry_at = coalesce(deliver_at, 0)
    WHERE seq = $1 AND status = 'Pending' AND next_retry_at = expires_at
      AND order_key <> '' AND NOT )sql",
                                       is_blocked);
constexpr auto place_pending = joined(R"sql(
    UPDATE {s}.outbox_messages AS m
    SET next_retry_at = CASE WHEN order_key <> '' AND )sql",
                                      is_blocked, R"sql(
        THEN expires_at ELSE coalesce(deliver_at, 0) END
    WHERE seq = $1 AND status = 'Pending')sql");

}  // namespace
}  // namespace postgres

constinit const order_rules_sql order_rules_texts{
    .policy = {.sqlite = "REPLACE INTO posthorn_meta (name, value) VALUES ('order_policy', ?)",
               .postgres = R"sql(
          INSERT INTO {s}.posthorn_meta (name, value)
          VALUES ('order_policy', $1)
          ON CONFLICT (name) DO UPDATE SET value = excluded.value)sql"},
    .scope = both<R"sql(
          SELECT destination, order_key, coalesce(tenant, '') FROM {s}.outbox_messages
          WHERE seq = ?1 AND order_key <> '')sql">,
    .head = {.sqlite = sqlite::head_of_key, .postgres = R"sql(
          SELECT seq FROM {s}.outbox_due
          WHERE destination = $1 AND order_key = $2 AND tenant = $3
          ORDER BY seq LIMIT 1)sql"},
    .release = {.sqlite = sqlite::release_parked, .postgres = postgres::release_parked},
    .place = {.sqlite = sqlite::place_pending, .postgres = postgres::place_pending},
    .due_row = {.sqlite = sqlite::due_row_by_seq, .postgres = postgres::due_row_by_seq}};

}  // namespace posthorn
