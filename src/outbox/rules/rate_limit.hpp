#pragma once

#include <cstddef>

#include "base/time/clock.hpp"

namespace posthorn {

struct rate_options {
    double per_second = 0;  // Zero: no limit.
    double burst = 0;       // At once, after a pause; zero: as many as in a second.

    bool operator==(const rate_options&) const = default;
};

/// How many messages may go to a destination now: a bucket of tokens, filled at an even rate.
///
/// Pure: the caller says what time it is. Times come in their order.
/// Threads: one at a time.
class rate_limit {
public:
    explicit rate_limit(rate_options options = {});

    /// Takes over a new rate; what was saved up stays, as far as it fits.
    void change(rate_options options, steady_time now);
    /// How many of `wanted` may go.
    [[nodiscard]] std::size_t allows(std::size_t wanted, steady_time now);
    void take(std::size_t sent, steady_time now);
    /// When it is worth asking again for `wanted`, one at least, after too little was allowed. Not
    /// sooner than 20 ms' worth, so that a high rate does not make a request of each message.
    [[nodiscard]] steady_time ready_at(std::size_t wanted, steady_time now);

    [[nodiscard]] bool is_limited() const noexcept { return options_.per_second > 0; }

private:
    void fill(steady_time now);

    rate_options options_;
    double tokens_;
    steady_time filled_at_{};
};

}  // namespace posthorn
