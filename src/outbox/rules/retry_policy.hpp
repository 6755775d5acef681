#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <posthorn/detail/pluggable.hpp>

namespace posthorn {

/// A pause of its own after each failure, the last one again and again, each up to `jitter` of it
/// more or less.
struct listed_backoff {
    std::vector<std::chrono::milliseconds> pauses;  // At least one.
    double jitter = 0.2;
};

/// How long to wait after a failed attempt.
///
/// Pure apart from a custom function, which must be so too.
/// Threads: any.
class retry_policy {
public:
    using kind = std::variant<exponential_backoff, fixed_backoff, custom_backoff, listed_backoff>;

    /// The messaging defaults: 2, 4, 8, 16, 32 s and so on, each with up to 500 ms more.
    retry_policy() = default;
    retry_policy(kind how);

    /// The pause after `attempts` failures, at least one; `unit` in [0, 1) is the chance in it.
    /// Empty means that there is to be no further attempt.
    [[nodiscard]] std::optional<std::chrono::milliseconds> delay(std::int32_t attempts,
                                                                 std::string_view error,
                                                                 double unit) const;

    /// Whether an application decides, so that nothing is known in advance.
    [[nodiscard]] bool is_custom() const noexcept {
        return std::holds_alternative<custom_backoff>(how_);
    }

private:
    kind how_;
};

/// How often, and for how long, a message may be sent again.
struct retry_limits {
    std::int32_t retries_max = 5;
    std::chrono::milliseconds attempt_timeout = std::chrono::seconds{30};
    std::chrono::milliseconds message_ttl = std::chrono::hours{24};
};

/// How long after its first attempt a message may still be sent again: every attempt takes as long
/// as it may and chance makes every pause as long as it can; never longer than the message lives.
/// Within this its receiver must remember it. Pure.
[[nodiscard]] std::chrono::milliseconds longest_retry_window(const retry_policy& policy,
                                                             const retry_limits& limits);

/// Whether a message that failed `attempts` times may be tried again.
[[nodiscard]] bool retries_left(std::int32_t attempts, std::int32_t max_retries) noexcept;

}  // namespace posthorn
