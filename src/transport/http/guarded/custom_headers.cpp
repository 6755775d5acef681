#include "transport/http/guarded/custom_headers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>

#include "transport/http/field_text.hpp"

namespace posthorn {
namespace {

// What frames the request and rules the connection, and what we say of the body.
constexpr std::array<std::string_view, 16> ours{"accept-encoding",
                                                "connection",
                                                "content-encoding",
                                                "content-length",
                                                "content-type",
                                                "date",
                                                "expect",
                                                "host",
                                                "http2-settings",
                                                "keep-alive",
                                                "te",
                                                "trailer",
                                                "transfer-encoding",
                                                "upgrade",
                                                "user-agent",
                                                "via"};
static_assert(std::ranges::is_sorted(ours));

constexpr std::array<std::string_view, 5> our_prefixes{"webhook-", "x-outbox-", "proxy-", "rf-",
                                                       "x-posthorn-"};

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

}  // namespace

result<> check_custom_header(std::string_view name, std::string_view value) {
    if (!is_token(name))
        return fail(error_code::invalid_argument,
                    "a header's name is empty or has characters that "
                    "names of headers do not have");
    if (name.size() + value.size() > custom_header_bytes_max)
        return fail(error_code::invalid_argument, "the header '{}' has {} bytes; at most {}",
                    name.substr(0, 64), name.size() + value.size(), custom_header_bytes_max);
    const auto lower = lower_case(name);
    const auto is_our_prefix = [&](std::string_view each) { return lower.starts_with(each); };
    if (std::ranges::binary_search(ours, std::string_view(lower)) ||
        std::ranges::any_of(our_prefixes, is_our_prefix))
        return fail(error_code::invalid_argument,
                    "the header '{}' is written by Posthorn; choose another name", name);
    // Control characters and bytes past ASCII mean different things to different readers.
    if (!std::ranges::all_of(value, [](char c) { return (c >= ' ' && c < '\x7f') || c == '\t'; }))
        return fail(error_code::invalid_argument,
                    "the value of the header '{}' has characters that are not printable ASCII",
                    name);
    return {};
}

result<> check_custom_headers(const http_headers& custom) {
    const auto count = static_cast<std::size_t>(std::distance(custom.begin(), custom.end()));
    if (count > custom_headers_max)
        return fail(error_code::invalid_argument, "there are {} headers; at most {}", count,
                    custom_headers_max);
    std::set<std::string> seen;
    for (const auto& [name, value] : custom) {
        POSTHORN_TRY(check_custom_header(name, value));
        if (!seen.insert(lower_case(name)).second)
            return fail(error_code::invalid_argument, "the header '{}' is there twice", name);
    }
    return {};
}

}  // namespace posthorn
