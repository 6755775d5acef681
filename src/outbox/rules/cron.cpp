#include "outbox/rules/cron.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

namespace posthorn {
namespace {

using std::chrono::seconds;
using std::chrono::sys_days;

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> day_names{"SUN", "MON", "TUE", "WED",
                                                    "THU", "FRI", "SAT"};

/// What a field may hold.
struct field {
    std::string_view what;
    int min;
    int max;
    std::span<const std::string_view> names{};  // Of the numbers from `min` on.
};

constexpr std::array<field, 6> fields{field{"second", 0, 59},
                                      field{"minute", 0, 59},
                                      field{"hour", 0, 23},
                                      field{"day", 1, 31},
                                      field{"month", 1, 12, month_names},
                                      field{"weekday", 0, 7, day_names}};

bool is_same(std::string_view one, std::string_view upper) {
    return std::ranges::equal(one, upper, [](char is, char wanted) {
        return (is >= 'a' && is <= 'z' ? static_cast<char>(is - 'a' + 'A') : is) == wanted;
    });
}

std::optional<int> number_of(std::string_view text) {
    int number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

result<int> value_of(std::string_view text, const field& in) {
    for (std::size_t i = 0; i < in.names.size(); ++i)
        if (is_same(text, in.names[i])) return in.min + static_cast<int>(i);
    const auto number = number_of(text);
    if (!number || *number < in.min || *number > in.max)
        return fail(error_code::invalid_argument, "the {} cannot be '{}'; write {} to {}", in.what,
                    text, in.min, in.max);
    return *number;
}

/// The part before the mark, which goes with it.
std::string_view take(std::string_view& text, char mark) {
    const auto part = text.substr(0, text.find(mark));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    return part;
}

template <std::size_t Size>
result<> read_part(std::string_view part, const field& in, std::bitset<Size>& into) {
    auto rest = part;
    const auto range = take(rest, '/');
    const bool has_step = range.size() < part.size();
    int first = in.min, last = in.max;
    if (range != "*") {
        auto end = range;
        const auto begin = take(end, '-');
        POSTHORN_LET(from, value_of(begin, in));
        first = from;
        if (begin.size() < range.size()) {
            POSTHORN_LET(to, value_of(end, in));
            last = to;
        } else if (!has_step) {
            last = first;
        }
    }
    const auto step = has_step ? number_of(rest) : 1;
    if (!step || *step < 1 || *step > in.max)
        return fail(error_code::invalid_argument, "a step of {}s cannot be '{}'; write 1 to {}",
                    in.what, rest, in.max);
    if (first > last)
        return fail(error_code::invalid_argument, "'{}' ends before it begins", range);
    // Of weekdays, 7 is 0 again.
    const auto turns = in.names.size() == day_names.size() ? 7 : static_cast<int>(Size);
    for (int each = first; each <= last; each += *step)
        into.set(static_cast<std::size_t>(each % turns));
    return {};
}

template <std::size_t Size>
result<> read_field(std::string_view text, const field& in, std::bitset<Size>& into) {
    if (text.ends_with(','))
        return fail(error_code::invalid_argument, "'{}' ends in a comma", text);
    while (!text.empty()) {
        POSTHORN_TRY(read_part(take(text, ','), in, into));
    }
    return {};
}

}  // namespace

result<cron> cron::parse(std::string_view text) {
    std::vector<std::string_view> words;
    for (auto rest = text; !rest.empty();)
        if (const auto word = take(rest, ' '); !word.empty()) words.push_back(word);
    if (words.size() != fields.size())
        return fail(error_code::invalid_argument,
                    "'{}' has {} fields; write six: second, minute, hour, day, month and weekday, "
                    "such as \"*/30 * * * * *\"",
                    text, words.size());
    cron made;
    made.text_ = text;
    POSTHORN_TRY(read_field(words[0], fields[0], made.seconds_));
    POSTHORN_TRY(read_field(words[1], fields[1], made.minutes_));
    POSTHORN_TRY(read_field(words[2], fields[2], made.hours_));
    POSTHORN_TRY(read_field(words[3], fields[3], made.days_));
    POSTHORN_TRY(read_field(words[4], fields[4], made.months_));
    POSTHORN_TRY(read_field(words[5], fields[5], made.weekdays_));
    if (!made.next({}))
        return fail(error_code::invalid_argument, "'{}' names no day that there is", text);
    return made;
}

bool cron::names_day(sys_days day) const {
    const std::chrono::year_month_day date(day);
    const std::chrono::weekday weekday(day);
    return days_[static_cast<unsigned>(date.day())] &&
           months_[static_cast<unsigned>(date.month())] && weekdays_[weekday.c_encoding()];
}

std::optional<seconds> cron::next_in_day(seconds from) const {
    using std::chrono::hours, std::chrono::minutes;
    for (auto minute = std::chrono::floor<minutes>(from); minute < hours{24}; ++minute) {
        const auto hour = std::chrono::floor<hours>(minute);
        if (!hours_[static_cast<std::size_t>(hour.count())] ||
            !minutes_[static_cast<std::size_t>((minute - hour).count())])
            continue;
        auto second = static_cast<std::size_t>(std::max(from - minute, seconds{}).count());
        while (second < seconds_.size() && !seconds_[second]) ++second;
        if (second < seconds_.size()) return minute + seconds(second);
    }
    return std::nullopt;
}

std::optional<wall_time> cron::next(wall_time from) const {
    // A date and its weekday come together again within 28 years, or 40 around a year without a day
    // in between.
    constexpr int days_max = 41 * 366;
    const auto after = std::chrono::floor<seconds>(from) + seconds{1};
    auto day = std::chrono::floor<std::chrono::days>(after);
    auto in_day = after - day;
    for (int i = 0; i < days_max; ++i, ++day, in_day = {})
        if (names_day(day))
            if (const auto found = next_in_day(in_day)) return day + *found;
    return std::nullopt;
}

}  // namespace posthorn
