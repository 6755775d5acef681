#pragma once

#include <cstddef>
#include <functional>

#include "base/async/task.hpp"

namespace posthorn {

/// How many nodes are asked at the same time for one answer.
inline constexpr std::size_t nodes_asked_at_once = 16;

/// Runs `ask` for each number below `count`, at most `at_once` of them beside each other, on the
/// awaiting caller's executor; returns when the last has ended.
///
/// Cancel: not passed on.
task<> ask_all(std::size_t count, std::size_t at_once, std::function<task<>(std::size_t)> ask);

}  // namespace posthorn
