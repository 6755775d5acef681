#include "store/sqlite/tables/order_walk.hpp"

#include <string>
#include <utility>

#include "store/statements/sqlite_states.hpp"

namespace posthorn::sqlite {
namespace {

constexpr auto next_key = joined(R"sql(
    SELECT destination, order_key, coalesce(tenant, '')
    FROM outbox_messages INDEXED BY idx_outbox_order
    WHERE order_key IS NOT NULL AND )sql",
                                 is_undone("status"));
constexpr auto next_key_from_destination = joined(next_key, R"sql(
    AND destination > ?1
    ORDER BY destination, order_key, coalesce(tenant, '') LIMIT 1)sql");
constexpr auto next_key_from_key = joined(next_key, R"sql(
    AND destination = ?1 AND order_key > ?2
    ORDER BY order_key, coalesce(tenant, '') LIMIT 1)sql");
constexpr auto next_key_from_tenant = joined(next_key, R"sql(
    AND destination = ?1 AND order_key = ?2 AND coalesce(tenant, '') > ?3
    ORDER BY coalesce(tenant, '') LIMIT 1)sql");

constexpr auto head_and_whether_parked_for_nothing =
    joined("SELECT seq, next_retry_at = expires_at AND NOT ", is_blocked("follower"), R"sql(
    FROM outbox_messages AS follower
    WHERE destination = ?1 AND order_key = ?2 AND coalesce(tenant, '') = ?3
      AND status = 'Pending' AND order_key IS NOT NULL AND )sql",
           is_undone("status"), " ORDER BY seq LIMIT 1");

std::optional<order_scope> read_scope(const rows& found) {
    if (found.empty()) return std::nullopt;
    const auto& row = found.front();
    return order_scope{.destination = std::string(row.text(0)),
                       .order_key = std::string(row.text(1)),
                       .tenant = std::string(row.text(2))};
}

}  // namespace

order_walk::order_walk(connection& database)
    : from_destination_(database, next_key_from_destination),
      from_key_(database, next_key_from_key),
      from_tenant_(database, next_key_from_tenant),
      head_(database, head_and_whether_parked_for_nothing) {}

// The narrowest first: another tenant, another key, another destination.
result<std::optional<order_scope>> order_walk::next(const std::optional<order_scope>& after) {
    if (after) {
        POSTHORN_LET(tenant, from_tenant_.run(after->destination, after->order_key, after->tenant));
        if (auto found = read_scope(tenant)) return found;
        POSTHORN_LET(key, from_key_.run(after->destination, after->order_key));
        if (auto found = read_scope(key)) return found;
    }
    const std::string_view last = after ? after->destination : std::string_view{};
    POSTHORN_LET(destination, from_destination_.run(last));
    return read_scope(destination);
}

result<std::optional<std::int64_t>> order_walk::parked_for_nothing(const order_scope& of) {
    POSTHORN_LET(found, head_.run(of.destination, of.order_key, of.tenant));
    if (found.empty() || found.front().integer(1) == 0) return std::nullopt;
    return found.front().integer(0);
}

result<unblocked_slice> order_walk::unblocked(const std::optional<order_scope>& after,
                                              std::size_t keys_max) {
    unblocked_slice slice{.seqs = {}, .last = after};
    for (std::size_t seen = 0; seen < keys_max; ++seen) {
        POSTHORN_LET(key, next(slice.last));
        slice.last = std::move(key);
        if (!slice.last) break;
        POSTHORN_LET(seq, parked_for_nothing(*slice.last));
        if (seq) slice.seqs.push_back(*seq);
    }
    return slice;
}

}  // namespace posthorn::sqlite
