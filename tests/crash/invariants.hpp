#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crash/services.hpp"

namespace posthorn::crash {

struct expected_end {
    std::int64_t promised = 0;  // So many links, at least, were said to be committed.
    bool receipts = false;      // Whether the target sent any.
};

/// What must be true of the databases once all is drained: every link that was committed has
/// arrived once and nothing else has, both chains are whole, effects of a key came in order, and
/// no log told a canary. Gives the number of links.
std::int64_t expect_invariants(const services& all, const expected_end& expected);

}  // namespace posthorn::crash
