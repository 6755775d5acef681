#pragma once

#include <chrono>
#include <cstdint>

namespace posthorn {

/// What a message gets whose producer inserts it with plain SQL and says nothing else.
struct row_defaults {
    std::int64_t max_retries = 5;
    std::chrono::milliseconds expires_in = std::chrono::hours{24};
    bool operator==(const row_defaults&) const = default;
};

}  // namespace posthorn
