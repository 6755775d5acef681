#include <charconv>
#include <limits>

#include <fmt/format.h>

#include <posthorn/detail/time.hpp>
#include <posthorn/json/time.hpp>

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::int32_t second = 1'000'000'000;
constexpr std::int32_t millisecond = 1'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `.5` as 500,000,000, leaving what follows; empty unless there are one to nine digits.
std::optional<std::int32_t> take_fraction(std::string_view& text) {
    std::int32_t value = 0;
    std::int32_t unit = second;
    std::size_t at = 1;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        if (unit == 1) return {};
        unit /= 10;
        value += (text[at] - '0') * unit;
    }
    if (at == 1) return {};
    text.remove_prefix(at);
    return value;
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t value = 0;
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (why != std::errc{}) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// The parts of a duration in their order, each at most once.
struct part {
    char letter;
    bool after_t;
    std::uint64_t seconds;
};
constexpr part parts[] = {
    {'D', false, 86'400}, {'H', true, 3'600}, {'M', true, 60}, {'S', true, 1}};

struct magnitude {
    std::uint64_t seconds = 0;
    std::int32_t nanoseconds = 0;
};

std::optional<magnitude> parse_magnitude(std::string_view text) {
    magnitude sum;
    std::size_t next = 0;
    bool after_t = false;
    bool any = false;
    while (!text.empty()) {
        if (text.front() == 'T' && !after_t && text.size() > 1) {
            after_t = true;
            text.remove_prefix(1);
        }
        const auto number = take_number(text);
        if (!number || text.empty()) return {};
        if (text.front() == '.') {
            const auto fraction = take_fraction(text);
            if (!fraction || text != "S") return {};
            sum.nanoseconds = *fraction;
        }
        if (text.empty()) return {};
        while (next < std::size(parts) &&
               (parts[next].letter != text.front() || parts[next].after_t != after_t))
            ++next;
        if (next == std::size(parts)) return {};
        std::uint64_t added = 0;
        if (__builtin_mul_overflow(*number, parts[next].seconds, &added) ||
            __builtin_add_overflow(sum.seconds, added, &sum.seconds))
            return {};
        ++next;
        text.remove_prefix(1);
        any = true;
    }
    if (!any) return {};
    return sum;
}

}  // namespace

std::string to_duration_text(json_span span) {
    const bool negative = span.seconds < 0;
    auto seconds = static_cast<std::uint64_t>(span.seconds);
    auto nanoseconds = span.nanoseconds;
    if (negative) {
        seconds = ~seconds + 1;
        if (nanoseconds > 0) {
            --seconds;
            nanoseconds = second - nanoseconds;
        }
    }
    auto text = fmt::format("{}PT{}", negative ? "-" : "", seconds);
    if (nanoseconds > 0) {
        text += fmt::format(".{:09}", nanoseconds);
        text.erase(text.find_last_not_of('0') + 1);
    }
    return text += 'S';
}

std::optional<json_span> parse_duration_text(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (!text.starts_with('P')) return {};
    const auto size = parse_magnitude(text.substr(1));
    if (!size) return {};
    constexpr auto seconds_max =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!negative) {
        if (size->seconds > seconds_max) return {};
        return json_span{static_cast<std::int64_t>(size->seconds), size->nanoseconds};
    }
    const std::uint64_t down = size->seconds + (size->nanoseconds > 0 ? 1 : 0);
    if (size->seconds > seconds_max + 1 || down > seconds_max + 1) return {};
    return json_span{static_cast<std::int64_t>(~down + 1),
                     size->nanoseconds > 0 ? second - size->nanoseconds : 0};
}

std::optional<std::string> to_time_text(json_span since_1970) {
    constexpr std::int64_t first = -62'135'596'800;  // 0001-01-01
    constexpr std::int64_t last = 253'402'300'799;   // 9999-12-31T23:59:59
    if (since_1970.seconds < first || since_1970.seconds > last) return {};
    const auto fine = since_1970.nanoseconds % millisecond;
    auto text = to_iso8601(
        wall_time(milliseconds(since_1970.seconds * 1'000 + since_1970.nanoseconds / millisecond)));
    if (fine != 0) {
        text.pop_back();
        text += fmt::format("{:06}Z", fine);
    }
    return text;
}

std::optional<json_span> parse_time_text(std::string_view text) {
    const auto time = parse_iso8601(text);
    if (!time) return {};
    auto span = *detail::to_span(time->time_since_epoch());
    if (const auto dot = text.find('.'); dot != text.npos) {
        text.remove_prefix(dot);
        const auto fraction = take_fraction(text);
        if (!fraction) return {};
        span.nanoseconds += *fraction % millisecond;
    }
    return span;
}

}  // namespace posthorn
