#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/histogram.hpp"
#include "base/text/utf8.hpp"

namespace posthorn {

/// Counts by type of event: of a hundred types, and of all others together. Types are named as
/// labels are, so that two that look alike are one.
///
/// Threads: any.
class type_counts {
public:
    struct counts {
        std::uint64_t published = 0;  // Events that were stored.
        // Deliveries that were taken, and events with no subscriber.
        std::uint64_t processed = 0;
        // Attempts,
        std::uint64_t delivered = 0;
        std::uint64_t failed = 0;
        // and what became of the failed ones.
        std::uint64_t retried = 0;
        std::uint64_t dead = 0;
        // How long those took that were answered.
        duration_counts took{};
        std::uint64_t took_us = 0;
    };
    using by_type = std::map<std::string, counts>;
    using number = std::uint64_t counts::*;

    void note(std::string_view type, number what) {
        const std::scoped_lock lock(mutex_);
        ++(of(type).*what);
    }
    void note_answer(std::string_view type, std::uint64_t took_us) {
        const std::scoped_lock lock(mutex_);
        auto& one = of(type);
        ++one.took[duration_part(took_us)];
        one.took_us += took_us;
    }
    [[nodiscard]] by_type view() const {
        const std::scoped_lock lock(mutex_);
        return by_type_;
    }

private:
    static constexpr std::size_t types_max = 100;
    static constexpr std::size_t characters_max = 100;

    counts& of(std::string_view type) {
        auto label = clean_utf8(type, characters_max);
        const bool fits = by_type_.size() < types_max || by_type_.contains(label);
        return by_type_[fits ? std::move(label) : std::string("(other)")];
    }

    mutable std::mutex mutex_;
    by_type by_type_;
};

}  // namespace posthorn
