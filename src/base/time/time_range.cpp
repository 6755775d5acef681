#include "base/time/time_range.hpp"

#include <chrono>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 64;
constexpr std::chrono::days ahead_max{366};

result<> check_one(std::string_view name, const std::optional<wall_time>& time, wall_time now) {
    if (!time) return {};
    if (*time < wall_time{})
        return fail(error_code::invalid_argument,
                    "{} is {}, which is before 1970; give a later time, or leave it out", name,
                    to_iso8601(*time));
    if (*time > now + ahead_max)
        return fail(error_code::invalid_argument,
                    "{} is {}, more than a year from now ({}); give an earlier time, or leave it "
                    "out",
                    name, to_iso8601(*time), to_iso8601(now));
    return {};
}

}  // namespace

result<> read_time(std::string_view name, std::string_view text, std::optional<wall_time>& into) {
    into = parse_iso8601(text);
    if (into) return {};
    return fail(error_code::invalid_argument, "{} is '{}'; give a time like 2026-02-14T12:00:00Z",
                name, clean_utf8(text, shown_characters_max));
}

result<> check_times(const time_range& asked, wall_time now) {
    POSTHORN_TRY(check_one("since", asked.since, now));
    POSTHORN_TRY(check_one("until", asked.until, now));
    if (!asked.since || !asked.until || *asked.since < *asked.until) return {};
    return fail(error_code::invalid_argument,
                "since ({}) is not before until ({}), so nothing lies between; give an earlier "
                "since, or a later until",
                to_iso8601(*asked.since), to_iso8601(*asked.until));
}

}  // namespace posthorn
