#pragma once

#include "store/rules/change_log.hpp"
#include "store/rules/closed_account.hpp"

namespace posthorn {

/// What tables of a write transaction have beside them; `Keys` is a store's `order_rules`.
///
/// Lifetime: as the transaction's connection.
template <class Driver, class Keys>
struct table_neighbours {
    change_log<Driver>& changes;
    closed_account<Driver>& closed;
    Keys& keys;
};

}  // namespace posthorn
