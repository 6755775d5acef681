#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/waiter.hpp"
#include "base/result.hpp"

namespace posthorn {

/// Hands values from producers to consumers, at most `capacity` at a time, in order.
///
/// Lifetime: outlives every coroutine that waits on it.
/// Threads:  any.
/// Cancel:   a cancelled wait ends with `error_code::cancelled`; its value was not handed over.
template <class T>
class channel {
public:
    explicit channel(std::size_t capacity) : capacity_(capacity) { POSTHORN_ASSERT(capacity > 0); }

    /// Waits while the channel is full.
    task<result<>> send(T value) {
        for (;;) {
            std::shared_ptr<waiter> turn;
            {
                const std::scoped_lock lock(mutex_);
                if (closed_) co_return is_closed();
                if (put(value)) co_return result<>{};
                turn = senders_.emplace_back(waiter::make());
            }
            if (!co_await turn->wait()) co_return cancelled();
        }
    }

    /// False when the channel is full or closed; the value is then dropped.
    bool try_send(T value) {
        const std::scoped_lock lock(mutex_);
        return !closed_ && put(value);
    }

    /// Waits while the channel is empty; once closed, gives what is left and then
    /// `error_code::closed`.
    task<result<T>> receive() {
        for (;;) {
            std::shared_ptr<waiter> turn;
            {
                const std::scoped_lock lock(mutex_);
                if (!values_.empty()) {
                    result<T> first = std::move(values_.front());
                    values_.pop_front();
                    wake_one(senders_);
                    co_return first;
                }
                if (closed_) co_return is_closed();
                turn = receivers_.emplace_back(waiter::make());
            }
            if (!co_await turn->wait()) co_return cancelled();
        }
    }

    /// Refuses what is sent from now on. Twice is safe.
    void close() {
        const std::scoped_lock lock(mutex_);
        closed_ = true;
        while (wake_one(senders_) || wake_one(receivers_)) {
        }
    }

private:
    using queue = std::deque<std::shared_ptr<waiter>>;

    static std::unexpected<error> is_closed() {
        return fail(error_code::closed, "the channel is closed");
    }

    bool put(T& value) {
        if (values_.size() == capacity_) return false;
        values_.push_back(std::move(value));
        wake_one(receivers_);
        return true;
    }

    // Passes over those that gave up waiting.
    static bool wake_one(queue& waiting) {
        while (!waiting.empty()) {
            const auto next = std::move(waiting.front());
            waiting.pop_front();
            if (next->wake()) return true;
        }
        return false;
    }

    std::mutex mutex_;
    std::size_t capacity_;
    std::deque<T> values_;
    queue senders_;
    queue receivers_;
    bool closed_ = false;
};

}  // namespace posthorn
