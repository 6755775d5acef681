#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <posthorn/detail/time.hpp>
#include <posthorn/error.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

/// A message that was not taken in.
struct failed_message {
    uuid id{};
    std::string source{};
    std::string endpoint{};
    std::string why{};                 // The last time.
    std::optional<error_code> code{};  // None where its handler refused it.
    wall_time first{};
    wall_time last{};
    std::uint64_t times = 0;
};

/// The newest of them, each once however often it came, until it is taken in after all.
///
/// Threads: any. While none is known, a success is one load.
class failed_messages {
public:
    static constexpr std::size_t messages_max = 100;

    void failed(failed_message one, wall_time now) {
        const std::lock_guard held(mutex_);
        one.first = one.last = now;
        one.times = 1;
        if (const auto known = find(one.source, one.id); known != kept_.end()) {
            one.first = known->first;
            one.times += known->times;
            kept_.erase(known);
        }
        kept_.push_front(std::move(one));
        if (kept_.size() > messages_max) kept_.pop_back();
        any_.store(true, std::memory_order_release);
    }

    void succeeded(std::string_view source, const uuid& id) {
        if (!any_.load(std::memory_order_acquire)) return;
        const std::lock_guard held(mutex_);
        if (const auto known = find(source, id); known != kept_.end()) kept_.erase(known);
        any_.store(!kept_.empty(), std::memory_order_release);
    }

    /// Those that failed last come first.
    [[nodiscard]] std::vector<failed_message> list() const {
        const std::lock_guard held(mutex_);
        return {kept_.begin(), kept_.end()};
    }

private:
    [[nodiscard]] std::deque<failed_message>::iterator find(std::string_view source,
                                                            const uuid& id) {
        return std::ranges::find_if(kept_, [&](const failed_message& each) {
            return each.id == id && each.source == source;
        });
    }

    mutable std::mutex mutex_;
    std::atomic<bool> any_ = false;
    std::deque<failed_message> kept_;
};

}  // namespace posthorn
