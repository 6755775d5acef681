#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace posthorn {

/// The bytes of all messages that lanes hold, from the moment they are taken until what became of
/// them is on disk.
///
/// Threads: one changes it at a time; any may look.
class byte_budget {
public:
    void add(std::size_t bytes) noexcept {
        const auto now = held_.load(std::memory_order_relaxed) + bytes;
        held_.store(now, std::memory_order_relaxed);
        if (now > highest_.load(std::memory_order_relaxed))
            highest_.store(now, std::memory_order_relaxed);
    }
    void remove(std::size_t bytes) noexcept {
        held_.store(held_.load(std::memory_order_relaxed) - bytes, std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t held() const noexcept {
        return held_.load(std::memory_order_relaxed);
    }
    /// The most there ever were.
    [[nodiscard]] std::size_t highest() const noexcept {
        return highest_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t left_of(std::size_t most) const noexcept {
        return most - std::min(held(), most);
    }

private:
    std::atomic<std::size_t> held_ = 0;
    std::atomic<std::size_t> highest_ = 0;
};

}  // namespace posthorn
