#pragma once

#include "store/sqlite/tables/change_log.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/order_keys.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// What tables of a write transaction have beside them.
///
/// Lifetime: as the transaction's connection.
struct neighbours {
    change_log& changes;
    closed_messages& closed;
    order_keys& keys;
    disk_keeper& room;
};

}  // namespace posthorn::sqlite
