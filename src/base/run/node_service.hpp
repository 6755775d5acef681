#pragma once

#include <memory>
#include <ranges>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"

namespace posthorn {

/// Something that runs for as long as a node does. Every part of a node that runs is one.
///
/// Lifetime: `run()` once; destroyed after it returned.
/// Threads:  `run()` and `stop()` on the network executor.
/// Cancel:   cancelling `run()` ends it soon. One that has work in flight which should end first
///           overrides `stop`, after which `run()` returns by itself.
class node_service {
public:
    virtual ~node_service() = default;

    /// For the log, such as "retention".
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    virtual task<> run() = 0;
    /// Takes nothing new, and lets what is in flight end. Twice is safe.
    virtual void stop() {}
};

/// Services in the order in which they start; they stop in the opposite one.
///
/// Lifetime: outlives the group that runs them.
/// Threads:  the network executor.
class service_list {
public:
    /// Gives the service back, for a caller that has to speak to it.
    template <class Service>
    Service& add(std::unique_ptr<Service> one) {
        auto& added = *one;
        all_.push_back(std::move(one));
        return added;
    }
    void start(task_group& group) {
        for (const auto& each : all_) group.spawn(each->run());
    }
    void stop() {
        for (const auto& each : all_ | std::views::reverse) each->stop();
    }

private:
    std::vector<std::unique_ptr<node_service>> all_;
};

}  // namespace posthorn
