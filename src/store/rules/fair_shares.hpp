#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace posthorn {

/// Shares `limit` out among parties of which each can use `wants[i]`: all get the same, what one
/// does not use goes to the others, and what cannot be divided goes to the one at `start` and those
/// after it, round the end. So each has a turn if `start` moves on each time.
///
/// Pure.
[[nodiscard]] std::vector<std::size_t> fair_shares(std::span<const std::size_t> wants,
                                                   std::size_t limit, std::size_t start);

}  // namespace posthorn
