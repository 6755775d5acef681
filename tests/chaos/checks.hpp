#pragma once

#include "chaos/party.hpp"
#include "chaos/stamps.hpp"

namespace posthorn::chaos {

/// Holds what one service sent against what the other got, row by row, and what went over the way
/// against what was stored: each thing that is wrong, in words. Nothing runs any more.
[[nodiscard]] std::vector<std::string> check_way(const party& from, const party& to,
                                                 const stamps& on_the_way);
/// The store itself, and that nothing in it tells what it should not.
[[nodiscard]] std::vector<std::string> check_store(const party& of, const canaries& secrets);

}  // namespace posthorn::chaos
