#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

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

    /// Ends a connection of a caller that has not shown who it is; false if there is none.
    virtual bool give_way() { return false; }
    /// Where several listeners share the files that the process may open, so that callers of one
    /// cannot shut out those of another. True if some have become free. Before `start`.
    void ask_for_files_of(std::function<bool()> all) { free_files_ = std::move(all); }

protected:
    /// After a connection could not be accepted: true if that was for want of files, and some are
    /// free now.
    bool frees_files_after(const std::error_code& failure) {
        if (failure != std::errc::too_many_files_open &&
            failure != std::errc::too_many_files_open_in_system)
            return false;
        return free_files_ ? free_files_() : give_way();
    }

private:
    std::function<bool()> free_files_;
};

}  // namespace posthorn
