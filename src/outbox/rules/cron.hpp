#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"

namespace posthorn {

/// When something is to be done, in six fields: second, minute, hour, day, month and weekday, in UTC.
///
/// A field is `*`, a number, a range `1-5`, either with a step `*/10`, or several of these with
/// commas. Months and weekdays may be named, `JAN` and `MON`; Sunday is 0 or 7. Where both a day and
/// weekdays are given, it is a day that is both.
///
/// Pure; a value.
class cron {
public:
    /// `error_code::invalid_argument` for what is not a schedule, or is one of no day there is.
    [[nodiscard]] static result<cron> parse(std::string_view text);

    /// The first moment after `from` that it names; none before the end of time.
    [[nodiscard]] std::optional<wall_time> next(wall_time from) const;
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    bool operator==(const cron&) const = default;

private:
    [[nodiscard]] bool names_day(std::chrono::sys_days day) const;
    /// The first moment of the day that is not before this second of it.
    [[nodiscard]] std::optional<std::chrono::seconds> next_in_day(std::chrono::seconds from) const;

    std::string text_;
    std::bitset<60> seconds_, minutes_;
    std::bitset<24> hours_;
    std::bitset<32> days_;
    std::bitset<13> months_;
    std::bitset<7> weekdays_;
};

}  // namespace posthorn
