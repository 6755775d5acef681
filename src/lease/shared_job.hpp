#pragma once

#include <functional>
#include <string>

#include "base/async/bell.hpp"
#include "lease/lease_keeper.hpp"

namespace posthorn {

/// Does a job on one node at a time of those that share a store: a lock that is a lease, so that
/// another node goes on when this one dies.
///
/// What the job does must do no harm if, for a moment, two of them do it: a node that is paused for
/// longer than its lease finds out only when it goes on.
///
/// Lifetime: `run()` once, destroyed after it returned; what it is given outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   cancels the job, gives the lease back and returns.
class shared_job {
public:
    struct services {
        store& where;
        class clock& clock;
        class timer& timer;
        logger& log;
        std::function<bool(const std::string& owner)> owner_is_gone;
    };

    /// `job` is run anew each time that the lease is taken, and cancelled when it is lost.
    shared_job(services with, lease_options options, std::string name, std::function<task<>()> job);

    task<> run();
    /// Whether this node does it now.
    [[nodiscard]] bool is_ours() const { return keeper_.epoch().has_value(); }

private:
    task<> work();

    std::function<task<>()> job_;
    bell changed_;
    bool stopping_ = false;
    lease_keeper keeper_;
};

}  // namespace posthorn
