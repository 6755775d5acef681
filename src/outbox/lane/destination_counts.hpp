#pragma once

#include <cstdint>

#include "base/counts_by_name.hpp"
#include "base/histogram.hpp"

namespace posthorn {

/// What became of the messages for a destination.
struct destination_counts {
    std::uint64_t sent = 0;
    std::uint64_t retried = 0;
    std::uint64_t dead = 0;
    std::uint64_t expired = 0;
    duration_counts took{};  // On the wire, one for each message of an attempt.

    destination_counts& operator+=(const destination_counts& more) noexcept {
        sent += more.sent;
        retried += more.retried;
        dead += more.dead;
        expired += more.expired;
        add_durations(took, more.took);
        return *this;
    }
};

using counts_of_destinations = counts_by_name<destination_counts>;

}  // namespace posthorn
