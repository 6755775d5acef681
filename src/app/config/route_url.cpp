#include "app/config/route_url.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/transports.hpp"
#include "base/text/hide_secrets.hpp"

namespace posthorn {
namespace {

std::unexpected<error> not_understood(std::string_view text) {
    std::vector<std::string_view> written;
    for (const auto& each : all_transports())
        written.insert(written.end(), each.written.begin(), each.written.end());
    const auto last = written.back();
    written.pop_back();
    return fail(error_code::invalid_configuration,
                "the route '{}' is not understood; write {} or {}", hide_secrets(text),
                fmt::join(written, ", "), last);
}

}  // namespace

result<route_url> parse_route_url(std::string_view text) {
    const auto* const kind = transport_of(text);
    if (kind == nullptr) return not_understood(text);
    auto url = kind->parse(text);
    if (url || url.error().code() == error_code::invalid_configuration) return url;
    return not_understood(text);
}

std::vector<std::string_view> addresses_in(std::string_view text) {
    std::vector<std::string_view> found;
    // A comma in a path is none of ours: what follows ours begins with a scheme.
    for (auto comma = text.find(','); comma != std::string_view::npos;
         comma = text.find(',', comma + 1)) {
        const auto rest = text.find_first_not_of(' ', comma + 1);
        const auto scheme = text.find("://", comma);
        if (rest == std::string_view::npos || scheme == std::string_view::npos ||
            text.substr(rest, scheme - rest).find_first_of(",/ ") != std::string_view::npos)
            continue;
        const auto one = text.substr(0, comma);
        found.push_back(one.substr(0, one.find_last_not_of(' ') + 1));
        text.remove_prefix(rest);
        comma = 0;
    }
    found.push_back(text);
    return found;
}

bool is_signed(std::string_view url) {
    return std::ranges::any_of(addresses_in(url), [](std::string_view each) {
        const auto* const kind = transport_of(each);
        return kind != nullptr && kind->is_signed;
    });
}

bool is_plain(const route_url& url) {
    return std::ranges::any_of(all_transports(), [&](const transport_kind& each) {
        return std::ranges::find(each.plain, url.scheme) != each.plain.end();
    });
}

std::string for_service(std::string_view url, std::string_view destination) {
    constexpr std::string_view place = "{service}";
    std::string text(url);
    for (auto at = text.find(place); at != std::string::npos;
         at = text.find(place, at + destination.size()))
        text.replace(at, place.size(), destination);
    return text;
}

}  // namespace posthorn
