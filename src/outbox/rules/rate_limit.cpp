#include "outbox/rules/rate_limit.hpp"

#include <algorithm>
#include <cmath>

namespace posthorn {
namespace {

using seconds = std::chrono::duration<double>;

constexpr seconds worth_a_request{0.02};

// A bucket that holds less than one message would never let any through.
rate_options completed(rate_options options) {
    if (options.burst <= 0) options.burst = options.per_second;
    options.burst = std::max(options.burst, 1.0);
    return options;
}

}  // namespace

rate_limit::rate_limit(rate_options options)
    : options_(completed(options)), tokens_(options_.burst) {}

void rate_limit::change(rate_options options, steady_time now) {
    if (is_limited()) fill(now);
    const bool was_limited = is_limited();
    options_ = completed(options);
    tokens_ = was_limited ? std::min(tokens_, options_.burst) : options_.burst;
    filled_at_ = now;
}

void rate_limit::fill(steady_time now) {
    if (now <= filled_at_) return;
    const double earned = seconds(now - filled_at_).count() * options_.per_second;
    tokens_ = std::min(tokens_ + earned, options_.burst);
    filled_at_ = now;
}

std::size_t rate_limit::allows(std::size_t wanted, steady_time now) {
    if (!is_limited()) return wanted;
    fill(now);
    // A hair more than a whole number less a rounding error is that number.
    return std::min(wanted, static_cast<std::size_t>(std::max(tokens_ + 1e-6, 0.0)));
}

void rate_limit::take(std::size_t sent, steady_time now) {
    if (!is_limited()) return;
    fill(now);
    tokens_ -= static_cast<double>(sent);
}

steady_time rate_limit::ready_at(std::size_t wanted, steady_time now) {
    if (!is_limited()) return now;
    fill(now);
    const double worth = std::clamp(options_.per_second * worth_a_request.count(), 1.0,
                                    std::max(static_cast<double>(wanted), 1.0));
    const double missing = std::min(std::ceil(worth), options_.burst) - tokens_;
    if (missing <= 0) return now;
    const seconds pause(std::min(missing / options_.per_second, 1e6));
    return now + std::chrono::ceil<std::chrono::milliseconds>(pause);
}

}  // namespace posthorn
