#include "store/sqlite/tables/order_keys.hpp"

#include "store/sqlite/schema/status_sql.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto follower_is_blocked = is_blocked("follower");

constexpr auto ask_blocked = joined("SELECT ", follower_is_blocked, R"sql(
    FROM outbox_messages AS follower WHERE seq = ? AND order_key <> '')sql");

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

order_keys::order_keys(connection& database)
    : scope_(database, R"sql(
          SELECT destination, order_key, coalesce(tenant, '') FROM outbox_messages
          WHERE seq = ? AND order_key <> '')sql"),
      is_blocked_(database, ask_blocked),
      head_(database, head_of_key),
      release_(database, release_parked),
      park_(database, park_blocked),
      place_(database, place_pending) {}

result<std::optional<order_scope>> order_keys::scope_of(std::int64_t seq) {
    POSTHORN_LET(found, scope_.run(seq));
    if (found.empty()) return std::nullopt;
    const auto& row = found.front();
    return order_scope{.destination = std::string(row.text(0)),
                       .order_key = std::string(row.text(1)),
                       .tenant = std::string(row.text(2))};
}

result<bool> order_keys::is_blocked(std::int64_t seq) {
    POSTHORN_LET(found, is_blocked_.run(seq));
    return !found.empty() && found.front().integer(0) != 0;
}

result<std::optional<std::int64_t>> order_keys::release_next(const order_scope& of) {
    std::int64_t next = 0;
    {
        POSTHORN_LET(found, head_.run(of.destination, of.order_key, of.tenant));
        if (found.empty()) return std::nullopt;
        next = found.front().integer(0);
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
    POSTHORN_LET(released, release_.run(seq));
    return released.changed() != 0;
}

result<bool> order_keys::park(std::int64_t seq) {
    POSTHORN_LET(parked, park_.run(seq));
    return parked.changed() != 0;
}

result<> order_keys::place(std::int64_t seq) {
    POSTHORN_TRY(place_.run(seq));
    return {};
}

}  // namespace posthorn::sqlite
