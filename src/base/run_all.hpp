#pragma once

#include <vector>

#include "base/task.hpp"

namespace posthorn {

/// Runs coroutines at once on the executor of whoever awaits, and returns when the last has ended;
/// then throws the first exception that one of them let out.
///
/// Cancel: not passed on; what they refer to is in use until they end.
task<> run_all(std::vector<task<>> bodies);

}  // namespace posthorn
