#include "store/sqlite/tables/order_walk.hpp"

#include <array>
#include <string>
#include <utility>

#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/schema/status_sql.hpp"
#include "store/sqlite/tables/order_keys.hpp"

namespace posthorn::sqlite {
namespace {

#define POSTHORN_NEXT_KEY                                                           \
    "SELECT destination, order_key, coalesce(tenant, '')"                           \
    " FROM outbox_messages INDEXED BY idx_outbox_order WHERE order_key IS NOT NULL" \
    " AND " POSTHORN_IS_UNDONE("status")

result<std::optional<order_scope>> read_scope(statement& from) {
    POSTHORN_LET(row, from.step());
    if (!row) return std::nullopt;
    return order_scope{.destination = std::string(from.text(0)),
                       .order_key = std::string(from.text(1)),
                       .tenant = std::string(from.text(2))};
}

}  // namespace

result<order_walk> order_walk::open(connection& database) {
    order_walk walk;
    POSTHORN_TRY(prepare_all(
        database,
        {{&walk.from_destination_, POSTHORN_NEXT_KEY
          " AND destination > ?1 ORDER BY destination, order_key, coalesce(tenant, '') LIMIT 1"},
         {&walk.from_key_, POSTHORN_NEXT_KEY
          " AND destination = ?1 AND order_key > ?2 ORDER BY order_key, coalesce(tenant, '')"
          " LIMIT 1"},
         {&walk.from_tenant_,
          POSTHORN_NEXT_KEY " AND destination = ?1 AND order_key = ?2 AND coalesce(tenant, '') > ?3"
                            " ORDER BY coalesce(tenant, '') LIMIT 1"},
         {&walk.head_,
          "SELECT seq, next_retry_at = expires_at AND NOT " POSTHORN_IS_BLOCKED(
              "follower") " FROM outbox_messages AS follower WHERE destination = ?1"
                          " AND order_key = ?2 AND coalesce(tenant, '') = ?3"
                          " AND status = 'Pending' AND order_key IS NOT NULL"
                          " AND " POSTHORN_IS_UNDONE("status") " ORDER BY seq LIMIT 1"}}));
    return walk;
}

result<std::optional<order_scope>> order_walk::next(const std::optional<order_scope>& after) {
    const order_scope from = after.value_or(order_scope{});
    const std::array<std::string_view, 3> parts{from.destination, from.order_key, from.tenant};
    // The narrowest first: another tenant, another key, another destination.
    for (auto* query : {&from_tenant_, &from_key_, &from_destination_}) {
        if (!after && query != &from_destination_) continue;
        const reset_at_end reset(*query);
        for (int i = 0; i < query->parameters(); ++i)
            query->bind(i + 1, parts[static_cast<std::size_t>(i)]);
        auto found = read_scope(*query);
        if (!found || *found) return found;
    }
    return std::nullopt;
}

result<std::optional<std::int64_t>> order_walk::parked_for_nothing(const order_scope& of) {
    const reset_at_end reset(head_);
    head_.bind(1, std::string_view(of.destination));
    head_.bind(2, std::string_view(of.order_key));
    head_.bind(3, std::string_view(of.tenant));
    POSTHORN_LET(row, head_.step());
    if (!row || head_.integer(1) == 0) return std::nullopt;
    return head_.integer(0);
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
