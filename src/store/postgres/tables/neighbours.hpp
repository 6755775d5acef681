#pragma once

#include "store/postgres/tables/closed_messages.hpp"
#include "store/postgres/tables/order_keys.hpp"
#include "store/postgres/tables/outbox_claims.hpp"

namespace posthorn::postgres {

/// What tables of a write transaction have beside them.
///
/// Lifetime: as the transaction's connection.
struct neighbours {
    change_log& changes;
    closed_messages& closed;
    order_keys& keys;
    outbox_claims& claims;
};

}  // namespace posthorn::postgres
