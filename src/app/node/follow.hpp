#pragma once

#include <functional>
#include <string>

#include "app/config/config.hpp"
#include "standby/follower.hpp"

namespace posthorn {

struct follow_options {
    /// Told one line for each place where it listens, once it does.
    std::function<void(const std::string& line)> announce;
};

/// Keeps a standby's copy of a primary's database until SIGINT or SIGTERM, as `[standby]` says, and
/// tells how it is on `listen.admin`. Tells a service manager that named its socket in
/// `NOTIFY_SOCKET`. Blocks the calling thread.
///
/// If it cannot start, nothing was announced. It ends with an error when the disk fails: what is
/// there is not trusted before a restart has read it again.
/// Ends too when the role of the primary is its own: what is next is up to the caller.
[[nodiscard]] result<standby::follow_end> follow(const config& settings,
                                                 const follow_options& options);

}  // namespace posthorn
