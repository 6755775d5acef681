#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "app/config/config.hpp"

namespace posthorn {

/// A destination to which so much may be under way at once that it will hardly be answered in time.
struct tight_lane {
    std::string destination;
    std::int64_t window = 0;
    std::int64_t batch = 0;
    std::chrono::milliseconds timeout{};

    bool operator==(const tight_lane&) const = default;
};

/// Those that leave a message less than 10 ms of its time-out, if its window is full: a slow batch
/// would then be sent again while it is still worked on. `[outbox]` itself is named `default`.
/// Pure.
[[nodiscard]] std::vector<tight_lane> find_tight_lanes(const config& settings);

}  // namespace posthorn
