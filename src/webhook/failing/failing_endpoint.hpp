#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

#include "webhook/subscription.hpp"
#include "webhook/subscription_table.hpp"

namespace posthorn {

/// What is known of an endpoint that has done nothing but fail: a row of `webhook_failing`.
struct failing_endpoint {
    uuid subscription;
    wall_time since{};  // Of the first failure after the last success.
    wall_time last{};
    std::int64_t failures = 0;
    std::int32_t told = 0;  // The last of the levels that an alert told of.
};

/// When an endpoint is disabled for failing.
struct failing_rules {
    std::chrono::milliseconds span = std::chrono::days{5};
    std::int64_t backlog = 10'000;

    static constexpr std::int64_t failures_min = 10;
};

/// How far it is from being disabled, in percent: 100 or more, and it is to be. A few failures say
/// nothing, however long ago the first was. Pure.
[[nodiscard]] std::int32_t failing_percent(const failing_endpoint& one, std::int64_t backlog,
                                           const failing_rules& rules);

/// The level to tell of next: of those that are reached the first that was not told of, so that each
/// comes with a failure of its own. A clock that jumps, or a node that was off for days, disables
/// nothing at once. 0 for none. Pure.
[[nodiscard]] std::int32_t next_alert(std::int32_t told, std::int32_t percent);

/// What operators are told of an endpoint.
struct webhook_alert {
    enum class kind : std::uint8_t { failing, disabled, recovered, exhausted };

    kind what = kind::failing;
    const subscription* of = nullptr;
    std::int32_t percent = 0;
    std::optional<wall_time> since{};
    std::int64_t failures = 0;
    const webhook_attempt* last = nullptr;  // The attempt that it is about, if one is.
};

[[nodiscard]] std::string_view to_string(webhook_alert::kind kind) noexcept;
/// As it is sent to `webhooks.alerts`. No secret is in it.
[[nodiscard]] std::string render(const webhook_alert& alert);

}  // namespace posthorn
