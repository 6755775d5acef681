#include "store/sqlite/tables/order_keys.hpp"

#include <utility>

#include "store/sqlite/tables/outbox_columns.hpp"

namespace posthorn::sqlite {
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

constexpr auto park_blocked = joined(R"sql(
    UPDATE outbox_messages AS follower SET next_retry_at = expires_at
    WHERE seq = ? AND status = 'Pending' AND order_key <> '' AND )sql",
                                     follower_is_blocked);

constexpr auto place_pending = joined(R"sql(
    UPDATE outbox_messages AS follower
    SET next_retry_at = CASE WHEN order_key <> '' AND )sql",
                                      follower_is_blocked, R"sql(
        THEN expires_at ELSE coalesce(deliver_at, 0) END
    WHERE seq = ? AND status = 'Pending')sql");

}  // namespace

order_keys::order_keys(connection& database, services with)
    : order_rules(database, std::move(with),
                  {.policy = "REPLACE INTO posthorn_meta (name, value) VALUES ('order_policy', ?)",
                   .scope = R"sql(
          SELECT destination, order_key, coalesce(tenant, '') FROM outbox_messages
          WHERE seq = ? AND order_key <> '')sql",
                   .head = head_of_key,
                   .release = release_parked,
                   .place = place_pending,
                   .due_row = due_row_by_seq}),
      is_blocked_(database, ask_blocked),
      park_(database, park_blocked) {}

result<> order_keys::let_go(const order_scope& of) {
    POSTHORN_TRY(release_first(of));
    return {};
}

result<bool> order_keys::park(std::int64_t seq) {
    POSTHORN_LET(parked, park_.run(seq));
    return parked.changed() != 0;
}

result<bool> run_ask_blocked(statement& asked, std::int64_t seq) {
    POSTHORN_LET(found, asked.run(seq));
    return !found.empty() && found.front().integer(0) != 0;
}

}  // namespace posthorn::sqlite
