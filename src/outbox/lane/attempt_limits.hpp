#pragma once

#include <cstddef>
#include <list>

#include <boost/asio/cancellation_signal.hpp>

#include "base/async/task_group.hpp"
#include "base/run/environment.hpp"

namespace posthorn {

/// Gives up on batches of a lane that take too long. One sleep for all that is under way: a timer
/// for each batch would cost more than the batch.
///
/// Lifetime: destroyed once it does not watch, or after `batches` has joined.
/// Threads:  the dispatcher's strand.
/// Cancel:   with the task group.
class attempt_limits {
public:
    /// A batch on its way.
    struct limited {
        steady_time until;
        boost::asio::cancellation_signal* stop = nullptr;
        bool late = false;  // It was given up.
    };
    using place = std::list<limited>::iterator;

    attempt_limits(const environment& env, task_group& batches) : env_(env), batches_(batches) {}

    place add(steady_time until);
    void remove(place one) { under_way_.erase(one); }
    [[nodiscard]] bool is_watching() const noexcept { return watches_; }

private:
    task<> watch();
    [[nodiscard]] place next_late();

    const environment& env_;
    task_group& batches_;
    std::list<limited> under_way_;
    bool watches_ = false;
};

}  // namespace posthorn
