#pragma once

#include "base/result.hpp"

namespace posthorn {

class claim_table;
class store_reader;
class store_transaction;

/// What a store has from which several nodes dispatch at a time, each what it has claimed. Where
/// one node does so at a time, its lease says it all, and there is none of this.
///
/// Lifetime: as its store.
/// Threads:  any; what is inside a transaction or a look, theirs.
class shared_dispatch {
public:
    virtual ~shared_dispatch() = default;

    /// The claims inside an open transaction of the same store.
    [[nodiscard]] virtual claim_table& claims_in(store_transaction& open) = 0;
    /// Whether others have committed what only `claim_table::take_in` makes known to readers.
    virtual result<bool> has_arrivals(store_reader& seen_by) = 0;
};

}  // namespace posthorn
