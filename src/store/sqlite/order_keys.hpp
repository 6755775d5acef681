#pragma once

#include <cstdint>
#include <optional>

#include "store/outbox_table.hpp"
#include "store/sqlite/connection.hpp"
#include "store/sqlite/status_sql.hpp"

namespace posthorn::sqlite {

/// Whether an earlier message of its order key is in the way of a row: one that is under way, or,
/// unless the policy lets its followers pass, one that was given up. `row` is how the SQL around it
/// names the row.
#define POSTHORN_HAS_EARLIER(row, state)                                                    \
    "EXISTS (SELECT 1 FROM outbox_messages AS earlier WHERE earlier.order_key IS NOT NULL"  \
    " AND earlier.destination = " row ".destination AND earlier.order_key = " row           \
    ".order_key AND coalesce(earlier.tenant, '') = coalesce(" row                           \
    ".tenant, '') AND " POSTHORN_IS_UNDONE("earlier.status") " AND earlier.status = " state \
                                                             " AND earlier.seq < " row ".seq)"
// Asked apart: a key may have very many that were given up, and the policy may make nothing of it.
#define POSTHORN_IS_BLOCKED(row) \
    "(" POSTHORN_HAS_EARLIER(row, "'Pending'") " OR (NOT EXISTS (SELECT 1 FROM posthorn_meta" \
    " WHERE name = 'order_policy' AND value = 'pass') AND ("                                \
    POSTHORN_HAS_EARLIER(row, "'Dead'") " OR " POSTHORN_HAS_EARLIER(row, "'Expired'") ")))"

/// Who waits for whom among the messages of an order key, in the open transaction.
///
/// A message that waits is parked: it is not due before it expires. Whoever takes a message out of
/// the way (sent, resolved, deleted, and given up under the policy `pass`) lets the next one go.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class order_keys {
public:
    static result<order_keys> open(connection& database);

    /// Empty if the row has no order key, or is not there.
    result<std::optional<order_scope>> scope_of(std::int64_t seq);
    /// Whether the row has to wait for an earlier one of its key.
    result<bool> is_blocked(std::int64_t seq);

    /// To be called when a message of the key was taken out of the way. Releases the first pending
    /// one, if it is parked and nothing blocks it, and gives its `seq`.
    result<std::optional<std::int64_t>> release_next(const order_scope& of);
    /// The same for a row that is still there; nothing if it has no order key.
    result<std::optional<std::int64_t>> release_next(std::int64_t seq);
    /// Releases this row, if it is parked and nothing blocks it; false otherwise.
    result<bool> release(std::int64_t seq);
    /// Parks a pending row, if something blocks it; false otherwise.
    result<bool> park(std::int64_t seq);
    /// For a row that has become pending again: due at once, or parked.
    result<> place(std::int64_t seq);

private:
    statement scope_;
    statement is_blocked_;
    statement head_;
    statement release_;
    statement park_;
    statement place_;
};

}  // namespace posthorn::sqlite
