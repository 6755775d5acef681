#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <posthorn/detail/time.hpp>
#include <posthorn/uuid.hpp>

namespace posthorn {

enum class log_level : std::uint8_t { trace, debug, info, warn, error };
enum class log_format : std::uint8_t { text, json };

template <class T>
concept log_integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// What a field of a log line holds. Text is referred to, not copied: it lives until the call ends.
class log_value {
public:
    using held = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool,
                              std::chrono::milliseconds, uuid>;

    template <std::convertible_to<std::string_view> T>
    log_value(const T& text) : held_(std::string_view(text)) {}
    template <log_integer T>
        requires std::signed_integral<T>
    log_value(T number) : held_(std::int64_t{number}) {}
    template <log_integer T>
        requires std::unsigned_integral<T>
    log_value(T number) : held_(std::uint64_t{number}) {}
    template <std::floating_point T>
    log_value(T number) : held_(static_cast<double>(number)) {}
    template <std::same_as<bool> T>  // A plain bool parameter would take pointers too.
    log_value(T truth) : held_(truth) {}
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::milliseconds>
    log_value(std::chrono::duration<Rep, Period> span) : held_(std::chrono::milliseconds(span)) {}
    log_value(const uuid& id) : held_(id) {}

    [[nodiscard]] const held& get() const { return held_; }

private:
    held held_;
};

struct log_field {
    std::string_view name;
    log_value value;
};

inline constexpr std::size_t log_value_size_max_default = 2048;

/// One entry of the log before it becomes text.
struct log_entry {
    wall_time time;
    log_level level = log_level::info;
    std::string_view message_template;  // "Message {MessageId} sent"; {{ and }} stand for braces.
    std::span<const log_field> fields;
    std::size_t value_size_max = log_value_size_max_default;  // In bytes; longer text is cut.
};

/// `2026-02-14T12:00:00.123Z [INF] Message … sent attempt=2 reason="no answer"`, without a line
/// end.
///
/// A placeholder without a field stays as it is; fields without a placeholder follow the message.
/// Both forms are one line of valid UTF-8 whatever the values hold: what could end the line, drive
/// a terminal or turn the direction of writing is shown as an escape.
[[nodiscard]] std::string render_text(const log_entry& entry);

/// `{"time":"…","level":"info","message":"…","MessageId":"…"}`, without a line end.
///
/// Durations are numbers of milliseconds; NaN and the infinities are null. A field whose name is
/// taken, by the three above or by a field before it, gets underscores until it is not.
[[nodiscard]] std::string render_json(const log_entry& entry);

}  // namespace posthorn
