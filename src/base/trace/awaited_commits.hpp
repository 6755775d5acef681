#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <posthorn/uuid.hpp>

#include "base/trace/span_context.hpp"

namespace posthorn {

/// A message that was made and whose transaction has not been heard of yet.
struct awaited_commit {
    uuid message{};
    span_context own{};
    span_id parent{};
    std::int64_t begun_ns = 0;
};

/// Remembers what was made, until its commit: a message that is rolled back has no span. Where there
/// are more than it has places for, the older ones are forgotten.
///
/// Threads: any.
class awaited_commits {
public:
    static constexpr std::size_t places = 4096;

    void add(const awaited_commit& one) {
        const std::scoped_lock lock(mutex_);
        at(one.message) = one;
    }
    /// Once for each.
    [[nodiscard]] std::optional<awaited_commit> take(const uuid& message) {
        const std::scoped_lock lock(mutex_);
        auto& place = at(message);
        if (message.is_nil() || place.message != message) return std::nullopt;
        return std::exchange(place, {});
    }

private:
    /// The end of an id is random, whatever its version.
    [[nodiscard]] awaited_commit& at(const uuid& message) {
        std::uint64_t end = 0;
        std::memcpy(&end, message.bytes().data() + 8, sizeof end);
        end ^= end >> 32U;
        return held_[end % places];
    }

    std::mutex mutex_;
    std::vector<awaited_commit> held_{places};
};

}  // namespace posthorn
