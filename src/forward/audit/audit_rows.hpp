#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <posthorn/forward.hpp>

#include "base/result.hpp"
#include "store/store.hpp"

namespace posthorn {

/// One attempt of tracked work, as it was written down.
struct audited_attempt {
    std::int64_t number = 0;  // From 1, of its operation.
    forward_attempt what{};
};

/// Writes an attempt down beside those of its operation.
[[nodiscard]] result<> write_audit(store_transaction& tx, const forward_attempt& one);
/// The last attempts of an operation, the latest first; none if it is not tracked.
[[nodiscard]] result<std::vector<audited_attempt>> read_audit(store_reader& from, const uuid& id,
                                                              std::int64_t limit);

/// What became of an operation otherwise than by an attempt, and is still to be told.
struct untold_decision {
    std::string key;   // As the row has its id, which anyone may have written.
    uuid id;           // Nil if that is none.
    std::string what;  // Retry or Discard, if a person decided; else empty.

    bool operator==(const untold_decision&) const = default;
};
[[nodiscard]] result<std::vector<untold_decision>> read_untold(store_reader& from,
                                                               std::int64_t limit);
/// It is told of in this transaction. False if there is no such row any more.
[[nodiscard]] result<bool> forget_untold(store_transaction& tx, const untold_decision& one);

}  // namespace posthorn
