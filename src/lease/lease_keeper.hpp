#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/async/bell.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/time/clock.hpp"
#include "lease/dispatch_lease.hpp"
#include "lease/lease_options.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Gets the dispatcher's lease, keeps it, and says when it is had and when it is lost.
///
/// Lifetime: `run()` once, destroyed after it returned; what it is given outlives it.
/// Threads:  the dispatcher's strand.
/// Cancel:   `stop()` makes `run()` give the lease back and return; twice is safe. Its commits are
///           not cancelled.
class lease_keeper {
public:
    struct deps {
        const environment& env;
        store& where;
        /// Whether the process of an owner is known to be dead. Empty: never known.
        std::function<bool(const std::string& owner)> owner_is_gone;
        /// Called when `epoch()` has changed.
        std::function<void()> changed;
        /// Of the lease.
        std::string name{dispatcher_lease_name};
    };

    lease_keeper(deps with, lease_options options);

    task<> run();
    void stop();
    /// A write with this epoch was refused, so the lease is another's.
    void refused(std::int64_t epoch);
    /// Of the lease that is held now.
    [[nodiscard]] std::optional<std::int64_t> epoch() const;

private:
    /// Where the writer's thread leaves the answer to a beat; it may outlive us.
    struct beat_answer;

    task<> look();
    void tell_of_standby(const lease& held);
    void tell_of_failure(const result<>& outcome);
    task<> take();
    task<> beat();
    std::shared_ptr<beat_answer> submit_beat();
    /// Empty if none came while the lease was ours.
    task<std::optional<result<bool>>> answer_to(std::shared_ptr<beat_answer> beat,
                                                std::int64_t epoch);
    [[nodiscard]] std::chrono::nanoseconds left() const;
    task<> release();
    lease_action apply(const lease_event& event);
    void tell_of(lease_action action, std::int64_t epoch);
    task<> pause(std::chrono::nanoseconds span);
    /// Shorter if the lease is lost or we are to stop.
    task<> rest_as_holder(std::int64_t epoch, std::chrono::nanoseconds span);

    deps with_;
    lease_options options_;
    lease_terms terms_;
    lease_state state_;
    bool stopping_ = false;
    std::int64_t told_of_epoch_ = 0;  // Of another's lease, that we stand by for.
    bool told_of_failure_ = false;
    std::shared_ptr<bell> wake_ = std::make_shared<bell>();
};

}  // namespace posthorn
