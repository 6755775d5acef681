#pragma once

#include <chrono>
#include <string>

#include "base/async/task.hpp"

namespace posthorn {

/// Where a node can be reached, whatever is spoken there.
///
/// Lifetime: made bound to its address; `start` once, destroy after `stop` returned; `stop` may be
///           left out where `start` was.
/// Threads:  the network executor, but for `url`.
/// Cancel:   `stop` accepts nothing more, closes idle connections, lets requests in flight finish
///           for as long as it is told, then cuts the rest off and waits for their handlers.
class listener {
public:
    virtual ~listener() = default;
    listener() = default;
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    /// `http://127.0.0.1:7400` and so on; the port is the real one where any was asked for.
    [[nodiscard]] virtual std::string url() const = 0;

    virtual void start() = 0;
    /// Twice is safe: a second call waits for the first.
    virtual task<> stop(std::chrono::milliseconds patience) = 0;
    /// Ends the patience of a `stop` under way.
    virtual void cut_off() = 0;
};

}  // namespace posthorn
