#include <algorithm>
#include <cstddef>

#include <posthorn/detail/time.hpp>

namespace posthorn {
namespace {

using namespace std::chrono;

constexpr wall_time time_min = sys_days(year(1) / January / 1);
constexpr wall_time time_max = sys_days(year(9999) / December / 31) + days(1) - milliseconds(1);

void put_digits(char* out, unsigned value, int count) {
    for (char* at = out + count; at != out; value /= 10)
        *--at = static_cast<char>('0' + value % 10);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes a text apart from the left. After the first thing that does not fit, `ok()` stays false.
class scanner {
public:
    explicit scanner(std::string_view text) : rest_(text) {}

    bool ok() const { return ok_; }
    bool at_end() const { return rest_.empty(); }

    bool accept(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char wanted) { ok_ = accept(wanted) && ok_; }

    int number(std::size_t digits, int value_max) {
        if (rest_.size() < digits ||
            !std::all_of(rest_.begin(), rest_.begin() + digits, is_digit)) {
            ok_ = false;
            return 0;
        }
        int value = 0;
        for (const char c : rest_.substr(0, digits)) value = value * 10 + (c - '0');
        rest_.remove_prefix(digits);
        ok_ = ok_ && value <= value_max;
        return value;
    }

    milliseconds fraction() {
        std::size_t digits = 0;
        while (digits < rest_.size() && is_digit(rest_[digits])) ++digits;
        ok_ = ok_ && digits >= 1 && digits <= 9;
        int value = 0;
        for (std::size_t i = 0; i < 3; ++i) value = value * 10 + (i < digits ? rest_[i] - '0' : 0);
        rest_.remove_prefix(digits);
        return milliseconds(value);
    }

private:
    std::string_view rest_;
    bool ok_ = true;
};

year_month_day scan_date(scanner& in) {
    const int y = in.number(4, 9999);
    in.expect('-');
    const int m = in.number(2, 12);
    in.expect('-');
    const int d = in.number(2, 31);
    return year(y) / month(static_cast<unsigned>(m)) / day(static_cast<unsigned>(d));
}

milliseconds scan_time_of_day(scanner& in) {
    const hours h(in.number(2, 23));
    in.expect(':');
    const minutes m(in.number(2, 59));
    in.expect(':');
    const seconds s(in.number(2, 59));
    return h + m + s + (in.accept('.') ? in.fraction() : milliseconds(0));
}

/// How far the written time is ahead of UTC.
minutes scan_offset(scanner& in) {
    if (in.accept('Z')) return minutes(0);
    const bool behind = in.accept('-');
    if (!behind) in.expect('+');
    const hours h(in.number(2, 23));
    in.expect(':');
    const minutes ahead = h + minutes(in.number(2, 59));
    return behind ? -ahead : ahead;
}

}  // namespace

std::string to_iso8601(wall_time time) {
    time = std::clamp(time, time_min, time_max);
    const auto midnight = floor<days>(time);
    const year_month_day date(midnight);
    const hh_mm_ss clock(time - midnight);

    std::string text = "0000-00-00T00:00:00.000Z";
    put_digits(&text[0], static_cast<unsigned>(static_cast<int>(date.year())), 4);
    put_digits(&text[5], static_cast<unsigned>(date.month()), 2);
    put_digits(&text[8], static_cast<unsigned>(date.day()), 2);
    put_digits(&text[11], static_cast<unsigned>(clock.hours().count()), 2);
    put_digits(&text[14], static_cast<unsigned>(clock.minutes().count()), 2);
    put_digits(&text[17], static_cast<unsigned>(clock.seconds().count()), 2);
    put_digits(&text[20], static_cast<unsigned>(clock.subseconds().count()), 3);
    return text;
}

std::optional<wall_time> parse_iso8601(std::string_view text) {
    scanner in(text);
    const year_month_day date = scan_date(in);
    in.expect('T');
    const milliseconds time_of_day = scan_time_of_day(in);
    const minutes offset = scan_offset(in);
    if (!in.ok() || !in.at_end() || !date.ok()) return std::nullopt;

    const wall_time time = sys_days(date) + time_of_day - offset;
    if (time < time_min || time > time_max) return std::nullopt;
    return time;
}

}  // namespace posthorn
