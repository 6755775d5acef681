#include "transport/http/types.hpp"

#include <algorithm>
#include <charconv>

#include <boost/asio/ip/address.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

void http_headers::add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
}

std::optional<std::string_view> http_headers::find(std::string_view name) const {
    const auto found = std::ranges::find_if(
        fields_, [&](const field& each) { return same_name(each.first, name); });
    if (found == fields_.end()) return std::nullopt;
    return found->second;
}

http_response json_response(std::uint16_t status, std::string body) {
    return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

http_response error_response(std::uint16_t status, std::string_view code,
                             std::string_view message) {
    // A message may quote a path, which may hold any bytes.
    constexpr std::size_t characters_max = 4000;
    const auto text = is_utf8(message) ? std::string(message) : clean_utf8(message, characters_max);
    const boost::json::object body{{"error", code}, {"message", text}};
    return json_response(status, boost::json::serialize(body));
}

std::optional<http_target> split_target(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        const auto path = target.find('/', scheme.size());
        target = path == target.npos ? "/" : target.substr(path);
        break;
    }
    if (!target.starts_with('/')) return std::nullopt;
    const auto mark = target.find('?');
    if (mark == target.npos) return http_target{target, {}};
    return http_target{target.substr(0, mark), target.substr(mark + 1)};
}

bool is_loopback(std::string_view peer) {
    // What follows would not be looked at, or names an interface that need not exist.
    if (peer.find_first_of(std::string_view("\0%", 2)) != peer.npos) return false;
    boost::system::error_code failure;
    const auto address = boost::asio::ip::make_address(std::string(peer), failure);
    return !failure && address.is_loopback();
}

}  // namespace posthorn
