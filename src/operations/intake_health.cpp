#include "operations/intake_health.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::size_t named_max = 3;
constexpr std::size_t name_characters_max = 64;
constexpr std::size_t why_characters_max = 300;

std::string shown(std::string_view name) { return clean_utf8(name, name_characters_max); }

std::string times(const standing_failure& one) {
    return fmt::format("{} since {}", one.times == 1 ? "once" : fmt::format("{} times", one.times),
                       to_iso8601(one.since));
}

std::string describe_endpoint(const standing_failure& one) {
    if (one.code == error_code::no_handler)
        return fmt::format(
            "messages of '{}' for endpoint '{}' are refused ({}): it has no handler here; add one, "
            "or correct the endpoint at the sender",
            shown(one.with), shown(one.name), times(one));
    if (one.code == error_code::handler_unreachable)
        return fmt::format(
            "the service behind endpoint '{}' does not answer ({}), so its messages wait at their "
            "senders; start it, or correct its address",
            shown(one.name), times(one));
    if (one.code == error_code::store_busy)
        return fmt::format(
            "messages for endpoint '{}' cannot be stored ({}, without a success), so they wait at "
            "their senders: {}",
            shown(one.name), times(one), clean_utf8(one.why, why_characters_max));
    return fmt::format(
        "the handler of endpoint '{}' fails ({}, without a success); see the log, or 'posthorn "
        "inbox refused'",
        shown(one.name), times(one));
}

std::string describe_sender(const standing_failure& one) {
    return fmt::format("requests in the name of '{}' do not pass the check ({}): {}",
                       shown(one.name), times(one), one.why);
}

bool is_worth_a_word(const standing_failure& one) {
    return one.code == error_code::no_handler || one.code == error_code::handler_unreachable ||
           one.times >= handler_failures_noticed;
}

template <class Described>
void tell(const std::vector<standing_failure>& all, Described described, std::string_view kind,
          std::vector<health_worry>& into) {
    for (std::size_t i = 0; i < std::min(all.size(), named_max); ++i)
        into.push_back({health_level::yellow, described(all[i])});
    if (all.size() > named_max)
        into.push_back({health_level::yellow,
                        fmt::format("the same of {} more {}", all.size() - named_max, kind)});
}

}  // namespace

std::vector<health_worry> judge_intake(const std::vector<standing_failure>& endpoints,
                                       const std::vector<standing_failure>& senders) {
    std::vector<standing_failure> worth;
    std::ranges::copy_if(endpoints, std::back_inserter(worth), is_worth_a_word);
    std::vector<health_worry> all;
    tell(worth, describe_endpoint, "endpoints", all);
    tell(senders, describe_sender, "senders", all);
    return all;
}

}  // namespace posthorn
