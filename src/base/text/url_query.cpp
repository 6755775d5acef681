#include "base/text/url_query.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/ranges.h>

#include "base/text/percent.hpp"
#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_max = 100;

}  // namespace

result<> for_each_parameter(
    std::string_view query,
    const std::function<result<>(std::string_view, const std::string&)>& take) {
    std::set<std::string> names;
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        if (pair.empty()) continue;
        const auto mark = std::min(pair.size(), pair.find('='));
        const auto name = percent_decode(pair.substr(0, mark));
        const auto value = percent_decode(pair.substr(std::min(pair.size(), mark + 1)));
        if (!name || !value)
            return fail(error_code::invalid_argument, "'{}' is not percent-encoded",
                        clean_utf8(pair, shown_max));
        if (!names.insert(*name).second)
            return fail(error_code::invalid_argument, "'{}' is given twice; give it once",
                        clean_utf8(*name, shown_max));
        POSTHORN_TRY(take(*name, *value));
    }
    return {};
}

result<> check_query(std::string_view query) {
    return for_each_parameter(query,
                              [](std::string_view, const std::string&) -> result<> { return {}; });
}

result<query_fields> read_query_fields(std::string_view query,
                                       std::span<const std::string_view> known) {
    query_fields asked;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, const std::string& value) -> result<> {
            if (std::ranges::find(known, name) == known.end())
                return fail(error_code::invalid_argument,
                            "'{}' cannot be asked for; once each there are {}",
                            clean_utf8(name, shown_max), fmt::join(known, ", "));
            asked.emplace(name, value);
            return {};
        }));
    return asked;
}

result<std::int64_t> number_in(const query_fields& asked, query_number which) {
    const auto found = asked.find(which.name);
    if (found == asked.end()) return which.unless_given;
    const std::string_view text = found->second;
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(text.begin(), text.end(), number);
    if (wrong != std::errc{} || end != text.end() || number < 1 || number > which.max)
        return fail(error_code::invalid_argument, "{} cannot be '{}'; write 1 to {}", which.name,
                    clean_utf8(text, shown_max), which.max);
    return number;
}

}  // namespace posthorn
