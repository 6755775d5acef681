#include "outbox/rules/retry_policy.hpp"

#include <algorithm>
#include <utility>

#include <posthorn/message.hpp>

#include "base/assert.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

// Longer than any message lives, and short enough to be added to any time.
constexpr milliseconds delay_max = std::chrono::hours{24 * 365 * 10};

milliseconds doubled(milliseconds base, milliseconds max, std::int32_t times) {
    auto delay = std::clamp(base, milliseconds{0}, max);
    for (; times > 0 && delay < max && delay > milliseconds{0}; --times)
        delay = delay > max / 2 ? max : delay * 2;
    return delay;
}

milliseconds scaled(milliseconds span, double by) {
    return milliseconds{static_cast<milliseconds::rep>(static_cast<double>(span.count()) * by)};
}

milliseconds pause(const exponential_backoff& how, std::int32_t attempts, double unit) {
    const auto max = std::clamp(how.max, milliseconds{0}, delay_max);
    const auto delay = doubled(how.base, max, attempts - 1);
    const auto jitter_max = std::clamp(how.jitter_max, milliseconds{0}, delay_max);
    // NaN counts as zero too.
    const double factor = how.jitter_factor > 0 ? std::min(how.jitter_factor, 1.0) : 0.0;
    return delay + scaled(jitter_max, unit) + scaled(delay, factor * (2 * unit - 1));
}

milliseconds pause(const listed_backoff& how, std::int32_t attempts, double unit) {
    const auto place = std::min(static_cast<std::size_t>(attempts), how.pauses.size()) - 1;
    return how.pauses[place] + scaled(how.pauses[place], how.jitter * (2 * unit - 1));
}

}  // namespace

retry_policy::retry_policy(kind how) : how_(std::move(how)) {
    if (const auto* custom = std::get_if<custom_backoff>(&how_)) POSTHORN_ASSERT(*custom);
    if (const auto* listed = std::get_if<listed_backoff>(&how_))
        POSTHORN_ASSERT(!listed->pauses.empty());
}

std::optional<milliseconds> retry_policy::delay(std::int32_t attempts, std::string_view error,
                                                double unit) const {
    POSTHORN_ASSERT(attempts > 0);
    std::optional<milliseconds> delay;
    if (const auto* exponential = std::get_if<exponential_backoff>(&how_))
        delay = pause(*exponential, attempts, unit);
    else if (const auto* fixed = std::get_if<fixed_backoff>(&how_))
        delay = fixed->delay;
    else if (const auto* listed = std::get_if<listed_backoff>(&how_))
        delay = pause(*listed, attempts, unit);
    else
        delay = std::get<custom_backoff>(how_)(attempts, error);
    if (delay) delay = std::clamp(*delay, milliseconds{0}, delay_max);
    return delay;
}

milliseconds longest_retry_window(const retry_policy& policy, const retry_limits& limits) {
    const auto ttl = std::clamp(limits.message_ttl, milliseconds{0}, delay_max);
    if (policy.is_custom() || limits.retries_max == retry_for_ever) return ttl;
    auto window = std::min(limits.attempt_timeout, ttl);
    for (std::int32_t retry = 1; retry <= limits.retries_max && window < ttl; ++retry) {
        const auto pause = policy.delay(retry, {}, 1).value_or(milliseconds{0});
        const auto more = pause + limits.attempt_timeout;
        if (more <= milliseconds{0}) break;  // No longer for a million of them.
        window = std::min(window + more, ttl);
    }
    return window;
}

bool retries_left(std::int32_t attempts, std::int32_t max_retries) noexcept {
    return max_retries == retry_for_ever || attempts <= max_retries;
}

}  // namespace posthorn
