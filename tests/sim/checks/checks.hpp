#pragma once

#include <cstdint>

#include "sim/checks/picture.hpp"

namespace posthorn::sim {

/// What came out, for people.
struct tally {
    std::uint64_t messages = 0, sent = 0, dead = 0, expired = 0, pending = 0, effects = 0;
    std::uint64_t purged = 0;     // Effects whose inbox row is past its horizon and gone.
    std::uint64_t forgotten = 0;  // Effects of what a restored service does not know any more.
    std::uint64_t lapsed = 0;     // Forgotten by a restored service, and expired before the replay.
    tally& operator+=(const tally& other);
};

/// Holds the databases of all services against each other and against the ledger, and records in
/// the ledger what is wrong.
tally check_invariants(const pictures& all, ledger& book);

}  // namespace posthorn::sim
