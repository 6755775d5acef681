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

bool is_signed(std::string_view url) {
    const auto* const kind = transport_of(url);
    return kind != nullptr && kind->is_signed;
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
