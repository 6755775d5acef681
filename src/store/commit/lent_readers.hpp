#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace posthorn {

/// A few readers, lent out one at a time. Each is made when it is first wanted, and anew when it
/// was lost.
///
/// Threads: any; who finds none free waits.
template <class Reader>
class lent_readers {
public:
    using look_type = std::function<result<>(store_reader&)>;
    using maker = std::function<result<std::unique_ptr<Reader>>()>;

    lent_readers(maker make, std::size_t count) : make_(std::move(make)), free_(count) {}

    /// Makes those that are missing now. Before the first read.
    result<> make_all() {
        for (auto& each : free_) {
            POSTHORN_LET(made, make_());
            each = std::move(made);
        }
        return {};
    }
    result<> read(const look_type& look) {
        auto one = take();
        auto outcome = read_with(one, look);
        give_back(std::move(one));
        return outcome;
    }

private:
    result<> read_with(std::unique_ptr<Reader>& one, const look_type& look) {
        if (one && one->is_lost()) one.reset();
        if (!one) {
            POSTHORN_LET(made, make_());
            one = std::move(made);
        }
        return one->read(look);
    }
    std::unique_ptr<Reader> take() {
        std::unique_lock lock(mutex_);
        returned_.wait(lock, [this] { return !free_.empty(); });
        auto one = std::move(free_.back());
        free_.pop_back();
        return one;
    }
    void give_back(std::unique_ptr<Reader> used) {
        {
            const std::scoped_lock lock(mutex_);
            free_.push_back(std::move(used));
        }
        returned_.notify_one();
    }

    maker make_;
    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Reader>> free_;  // Null for one that is still to be made.
};

}  // namespace posthorn
