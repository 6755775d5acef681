#pragma once

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "outbox/rules/drop_order.hpp"

namespace posthorn {

/// What is to be closed without an attempt, on its way to the lanes. They alone know what is being
/// sent, and leave that as it is.
///
/// Threads: any.
class drop_box {
public:
    /// In place of what was not taken yet: who puts it in looks at the table anew each time.
    void put(std::vector<drop_order> orders) {
        const std::scoped_lock lock(mutex_);
        orders_ = std::move(orders);
    }
    /// Beside it, until it is taken.
    void add(drop_order order) {
        const std::scoped_lock lock(mutex_);
        added_.push_back(std::move(order));
    }
    [[nodiscard]] std::vector<drop_order> take() {
        const std::scoped_lock lock(mutex_);
        auto all = std::exchange(added_, {});
        std::ranges::move(std::exchange(orders_, {}), std::back_inserter(all));
        return all;
    }

private:
    std::mutex mutex_;
    std::vector<drop_order> orders_;
    std::vector<drop_order> added_;
};

}  // namespace posthorn
