#pragma once

#include <functional>
#include <string>

#include "base/async/task.hpp"

namespace posthorn {

/// What `/metrics` says, for a feature that brings it elsewhere: the feature shows one of these, and
/// the node fills it in when it starts.
///
/// Threads: the network executor.
struct metrics_source {
    std::function<task<std::string>()> read{};
};

}  // namespace posthorn
