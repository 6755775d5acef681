#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/bell.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
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
class shared_job final : public node_service {
public:
    struct deps {
        const environment& env;
        store& where;
        std::function<bool(const std::string& owner)> owner_is_gone;
    };

    /// `job` is run anew each time that the lease is taken, and cancelled when it is lost.
    shared_job(deps with, lease_options options, std::string name, std::function<task<>()> job);

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    task<> run() override;
    /// Whether this node does it now.
    [[nodiscard]] bool is_ours() const { return keeper_.epoch().has_value(); }

private:
    task<> work();

    std::string name_;
    std::function<task<>()> job_;
    bell changed_;
    bool stopping_ = false;
    lease_keeper keeper_;
};

/// The job as it is where one node has the store, or as a `shared_job` where several share it.
[[nodiscard]] std::unique_ptr<node_service> done_by_one(shared_job::deps with,
                                                        lease_options options,
                                                        std::unique_ptr<node_service> job);

}  // namespace posthorn
