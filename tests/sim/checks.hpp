#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/ledger.hpp"
#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::sim {

/// What came out, for people.
struct tally {
    std::uint64_t messages = 0, sent = 0, dead = 0, expired = 0, pending = 0, effects = 0;
    tally& operator+=(const tally& other);
};

/// Holds the databases of all services against each other and against the ledger, with plain
/// SQLite, and records in the ledger what is wrong. Nothing runs on them any more.
tally check_invariants(const std::map<std::string, const fault_disk*>& disks, ledger& book);

}  // namespace posthorn::sim
