#include "store/sqlite/tables/order_keys.hpp"

#include <sqlite3.h>

#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/schema/status_sql.hpp"

namespace posthorn::sqlite {

result<order_keys> order_keys::open(connection& database) {
    order_keys keys;
    POSTHORN_TRY(prepare_all(
        database,
        {{&keys.scope_,
          "SELECT destination, order_key, coalesce(tenant, '') FROM outbox_messages"
          " WHERE seq = ? AND order_key <> ''"},
         {&keys.is_blocked_,
          "SELECT " POSTHORN_IS_BLOCKED("follower") " FROM outbox_messages AS follower"
                                                    " WHERE seq = ? AND order_key <> ''"},
         {&keys.head_,
          "SELECT seq FROM outbox_messages WHERE destination = ?1 AND order_key = ?2"
          " AND coalesce(tenant, '') = ?3 AND status = 'Pending' AND order_key IS NOT NULL"
          " AND " POSTHORN_IS_UNDONE("status") " ORDER BY seq LIMIT 1"},
         // A retry that would come past the expiry stands at the expiry too; then it comes sooner.
         {&keys.release_,
          "UPDATE outbox_messages AS follower SET next_retry_at = coalesce(deliver_at, 0)"
          " WHERE seq = ? AND status = 'Pending' AND next_retry_at = expires_at"
          " AND order_key <> '' AND NOT " POSTHORN_IS_BLOCKED("follower")},
         {&keys.park_,
          "UPDATE outbox_messages AS follower SET next_retry_at = expires_at"
          " WHERE seq = ? AND status = 'Pending' AND order_key <> ''"
          " AND " POSTHORN_IS_BLOCKED("follower")},
         {&keys.place_,
          "UPDATE outbox_messages AS follower SET next_retry_at = CASE WHEN order_key <> ''"
          " AND " POSTHORN_IS_BLOCKED(
              "follower") " THEN expires_at ELSE coalesce(deliver_at, 0) END"
                          " WHERE seq = ? AND status = 'Pending'"}}));
    return keys;
}

result<std::optional<order_scope>> order_keys::scope_of(std::int64_t seq) {
    const reset_at_end reset(scope_);
    scope_.bind(1, seq);
    POSTHORN_LET(row, scope_.step());
    if (!row) return std::nullopt;
    return order_scope{.destination = std::string(scope_.text(0)),
                       .order_key = std::string(scope_.text(1)),
                       .tenant = std::string(scope_.text(2))};
}

result<bool> order_keys::is_blocked(std::int64_t seq) {
    const reset_at_end reset(is_blocked_);
    is_blocked_.bind(1, seq);
    auto row = is_blocked_.step();
    if (!row || !*row) return row;
    return is_blocked_.integer(0) != 0;
}

result<std::optional<std::int64_t>> order_keys::release_next(const order_scope& of) {
    std::int64_t next = 0;
    {
        const reset_at_end reset(head_);
        head_.bind(1, std::string_view(of.destination));
        head_.bind(2, std::string_view(of.order_key));
        head_.bind(3, std::string_view(of.tenant));
        POSTHORN_LET(row, head_.step());
        if (!row) return std::nullopt;
        next = head_.integer(0);
    }
    POSTHORN_LET(released, release(next));
    if (!released) return std::nullopt;
    return next;
}

result<std::optional<std::int64_t>> order_keys::release_next(std::int64_t seq) {
    POSTHORN_LET(scope, scope_of(seq));
    if (!scope) return std::nullopt;
    return release_next(*scope);
}

result<bool> order_keys::release(std::int64_t seq) {
    release_.bind(1, seq);
    POSTHORN_TRY(release_.run());
    return sqlite3_changes(sqlite3_db_handle(release_.handle())) != 0;
}

result<bool> order_keys::park(std::int64_t seq) {
    park_.bind(1, seq);
    POSTHORN_TRY(park_.run());
    return sqlite3_changes(sqlite3_db_handle(park_.handle())) != 0;
}

result<> order_keys::place(std::int64_t seq) {
    place_.bind(1, seq);
    return place_.run();
}

}  // namespace posthorn::sqlite
