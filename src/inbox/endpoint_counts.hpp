#pragma once

#include <cstdint>

#include "base/counts_by_name.hpp"
#include "base/histogram.hpp"

namespace posthorn {

/// What became of the messages for an endpoint.
struct endpoint_counts {
    std::uint64_t processed = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t failed = 0;  // Or refused.
    duration_counts took{};    // From the arrival to the answer, of those processed.

    endpoint_counts& operator+=(const endpoint_counts& more) noexcept {
        processed += more.processed;
        duplicates += more.duplicates;
        failed += more.failed;
        add_durations(took, more.took);
        return *this;
    }
};

/// For each endpoint that has a handler; all without one are `other`, since senders name them.
using counts_of_endpoints = counts_by_name<endpoint_counts>;

}  // namespace posthorn
