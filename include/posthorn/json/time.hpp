#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace posthorn {

/// A stretch of time as JSON says it, wider than any one duration of C++: `seconds` rounded down,
/// and what is left.
struct json_span {
    std::int64_t seconds = 0;
    std::int32_t nanoseconds = 0;  // 0 to 999,999,999.
    bool operator==(const json_span&) const = default;
};

/// `PT90.5S`, with a minus in front if it is less than zero.
[[nodiscard]] std::string to_duration_text(json_span span);
/// Reads ISO-8601 durations of days, hours, minutes and seconds, such as `P1DT2H3M4.5S`. Empty for
/// everything else: years, months and weeks have no one length, or no place in a clock.
[[nodiscard]] std::optional<json_span> parse_duration_text(std::string_view text);

/// `2026-02-14T12:00:00.123Z`, with six digits more where they are not zero. Empty outside the
/// years 0001 to 9999.
[[nodiscard]] std::optional<std::string> to_time_text(json_span since_1970);
[[nodiscard]] std::optional<json_span> parse_time_text(std::string_view text);

namespace detail {

/// Empty if it does not fit.
template <class Rep, class Period>
[[nodiscard]] constexpr std::optional<json_span> to_span(std::chrono::duration<Rep, Period> from) {
    const std::int64_t count = from.count();
    if constexpr (Period::den == 1) {
        json_span span;
        if (__builtin_mul_overflow(count, std::int64_t{Period::num}, &span.seconds)) return {};
        return span;
    } else {
        auto seconds = count / Period::den;
        auto rest = count % Period::den;
        if (rest < 0) {
            --seconds;
            rest += Period::den;
        }
        return json_span{seconds, static_cast<std::int32_t>(rest * (1'000'000'000 / Period::den))};
    }
}

/// Empty if the duration cannot say it: too long, or too fine.
template <class Duration>
[[nodiscard]] constexpr std::optional<Duration> from_span(json_span span) {
    using period = typename Duration::period;
    using rep = typename Duration::rep;
    std::int64_t count = 0;
    if constexpr (period::den == 1) {
        if (span.nanoseconds != 0 || span.seconds % period::num != 0) return {};
        count = span.seconds / period::num;
    } else {
        constexpr std::int32_t unit = 1'000'000'000 / period::den;
        if (span.nanoseconds % unit != 0) return {};
        // Seconds below zero are rounded down, so the rest is added to them before multiplying
        // could leave the range that the sum is in.
        auto rest = static_cast<std::int64_t>(span.nanoseconds / unit);
        if (span.seconds < 0) {
            ++span.seconds;
            rest -= period::den;
        }
        if (__builtin_mul_overflow(span.seconds, std::int64_t{period::den}, &count) ||
            __builtin_add_overflow(count, rest, &count))
            return {};
    }
    if (!std::in_range<rep>(count)) return {};
    return Duration(static_cast<rep>(count));
}

}  // namespace detail

}  // namespace posthorn
