#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace posthorn {

/// Counts by type of event: of a hundred types, and of all others together.
///
/// Threads: any.
class type_counts {
public:
    struct counts {
        std::uint64_t published = 0;  // Events that were stored.
        std::uint64_t processed = 0;  // Events that were fanned out, also to no one.
        // Attempts at their deliveries,
        std::uint64_t delivered = 0;
        std::uint64_t failed = 0;
        // and what became of the failed ones.
        std::uint64_t retried = 0;
        std::uint64_t dead = 0;
    };
    using number = std::uint64_t counts::*;

    void note(const std::string& type, number what) {
        const std::scoped_lock lock(mutex_);
        const bool fits = by_type_.size() < types_max || by_type_.contains(type);
        ++(by_type_[fits ? type : "(other)"].*what);
    }
    [[nodiscard]] std::map<std::string, counts> view() const {
        const std::scoped_lock lock(mutex_);
        return by_type_;
    }

private:
    static constexpr std::size_t types_max = 100;

    mutable std::mutex mutex_;
    std::map<std::string, counts> by_type_;
};

}  // namespace posthorn
