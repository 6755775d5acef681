#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/result.hpp"
#include "security/address_guard.hpp"

namespace posthorn {

struct resolver_options {
    /// For one name, all tries and name servers together.
    std::chrono::milliseconds limit = std::chrono::seconds(5);
    /// For one try; then the next name server is asked, and the first again.
    std::chrono::milliseconds try_limit = std::chrono::milliseconds(1500);
    std::size_t names_at_once_max = 512;
    /// Such as `127.0.0.1:5353`; none: those of the system, read anew for each name.
    std::vector<std::string> servers{};
    /// With the domains that the system would try behind a name, too.
    bool searches = false;
};

/// Finds the addresses of names, many at once: one that no server knows of holds up no other.
/// (Asio's resolver looks for one name at a time.)
///
/// Names are taken as they are, without the domains that the system would try behind them unless
/// that is asked for, and the system's file of hosts is asked first. Nothing is kept: whether an address may be called is
/// judged on what the name means now.
///
/// Lifetime: outlives the calls of `find`.
/// Threads:  `find` runs on one thread or a strand.
/// Cancel:   a cancelled `find` gives up at once, and leaves no socket open.
class resolver {
public:
    explicit resolver(timer& time, resolver_options options = {});

    /// All addresses, IPv4 first, each once; an address stands for itself. Never none: fails with
    /// `unreachable` if there is none or no server tells, `timed_out`, `overloaded` where too many
    /// are looked for, or `cancelled`.
    task<result<std::vector<ip_address>>> find(std::string name);

    [[nodiscard]] std::size_t names_at_work() const noexcept { return at_work_; }

private:
    task<result<std::vector<ip_address>>> ask(std::string name);

    timer& time_;
    resolver_options options_;
    std::size_t at_work_ = 0;
};

}  // namespace posthorn
