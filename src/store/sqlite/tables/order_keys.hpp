#pragma once

#include <cstdint>
#include <optional>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Who waits for whom among the messages of an order key, in the open transaction.
///
/// A message that waits is parked: it is not due before it expires. Whoever takes a message out of
/// the way (sent, resolved, deleted, and given up under the policy `pass`) lets the next one go.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class order_keys {
public:
    explicit order_keys(connection& database);

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
