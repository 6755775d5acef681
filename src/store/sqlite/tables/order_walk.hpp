#pragma once

#include <optional>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Goes from order key to order key, and finds those whose next message is parked for nothing:
/// what it waited for was deleted by hand, or by a time limit, or the policy has changed.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class order_walk {
public:
    explicit order_walk(connection& database);

    result<unblocked_slice> unblocked(const std::optional<order_scope>& after,
                                      std::size_t keys_max);

private:
    result<std::optional<order_scope>> next(const std::optional<order_scope>& after);
    result<std::optional<std::int64_t>> parked_for_nothing(const order_scope& of);

    statement from_destination_;
    statement from_key_;
    statement from_tenant_;
    statement head_;
};

}  // namespace posthorn::sqlite
