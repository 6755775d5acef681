#pragma once

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "queue/queue.hpp"

namespace posthorn {

/// Tells the log of jobs that were given up.
void log_given_up(logger& log, const std::vector<given_up_job>& jobs);

/// Gives up jobs whose attempts are spent, also where workers take them with SQL of their own.
///
/// Lifetime: `run()` once; what it is given outlives it.
/// Threads:  the network executor.
/// Cancel:   `run()` returns after the commit under way.
class queue_keeper final : public node_service {
public:
    queue_keeper(store& where, const environment& env, queue_rules rules)
        : where_(where), env_(env), rules_(rules) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "queue keeper"; }
    task<> run() override;

private:
    /// Whether there is one, by a read: a commit every few seconds would cost a sync each.
    task<bool> finds_one();
    task<> give_up();

    store& where_;
    const environment& env_;
    queue_rules rules_;
};

}  // namespace posthorn
