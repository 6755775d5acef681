#include "base/text/http_url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <boost/asio/ip/address_v6.hpp>

namespace posthorn {
namespace {

constexpr std::uint16_t plain_port = 80;
constexpr std::uint16_t tls_port = 443;

// What lies between is written into a request's first lines as it is.
bool is_written_plainly(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return c > ' ' && c < '\x7f' &&
               std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
    });
}

bool is_name(std::string_view host) {
    return !host.empty() && std::ranges::all_of(host, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.' || c == '_';
    });
}

// With a zone, such as fe80::1%eth0, if it has one.
bool is_v6(std::string_view host) {
    const auto zone = host.find('%');
    if (zone != host.npos && !is_name(host.substr(zone + 1))) return false;
    boost::system::error_code failure;
    boost::asio::ip::make_address_v6(std::string(host), failure);
    return !failure;
}

// Takes `scheme://` off the front and says whether it is https.
std::optional<bool> take_scheme(std::string_view& text) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!text.starts_with(scheme)) continue;
        text.remove_prefix(scheme.size());
        return scheme == "https://";
    }
    return std::nullopt;
}

// `host`, `host:port`, `[v6]` or `[v6]:port`.
bool read_authority(std::string_view text, http_url& url) {
    const bool bracketed = text.starts_with('[');
    const auto end = bracketed ? text.find(']') : text.find(':');
    if (bracketed && end == text.npos) return false;
    const auto host = text.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
    if (bracketed ? !is_v6(host) : !is_name(host)) return false;
    url.host = std::string(host);
    url.port = url.tls ? tls_port : plain_port;
    const auto rest = end == text.npos ? "" : text.substr(end + (bracketed ? 1 : 0));
    if (rest.empty()) return true;
    const auto digits = rest.substr(1);
    const auto [stop, failure] = std::from_chars(digits.begin(), digits.end(), url.port);
    return rest.front() == ':' && failure == std::errc{} && stop == digits.end() && url.port != 0;
}

bool read(std::string_view text, http_url& url) {
    const auto tls = take_scheme(text);
    if (!tls || !is_written_plainly(text) || text.find('#') != text.npos) return false;
    url.tls = *tls;
    const auto slash = text.find_first_of("/?");
    if (!read_authority(text.substr(0, slash), url)) return false;
    if (slash == text.npos) return true;
    const auto mark = text.find('?', slash);
    url.path = std::string(text.substr(slash, mark == text.npos ? mark : mark - slash));
    if (mark != text.npos) url.query = std::string(text.substr(mark + 1));
    return true;
}

}  // namespace

result<http_url> parse_http_url(std::string_view text) {
    http_url url;
    if (!read(text, url))
        return fail(error_code::invalid_argument,
                    "'{}' is no URL of HTTP; write http://HOST:PORT or https://HOST:PORT, with a "
                    "path after it if need be",
                    text);
    return url;
}

std::string authority(const http_url& url) {
    const bool v6 = url.host.find(':') != std::string::npos;
    const auto host = v6 ? fmt::format("[{}]", url.host) : url.host;
    return url.port == (url.tls ? tls_port : plain_port) ? host
                                                         : fmt::format("{}:{}", host, url.port);
}

std::string origin(const http_url& url) {
    return fmt::format("{}://{}", url.tls ? "https" : "http", authority(url));
}

std::string path_before_ours(const http_url& url) {
    const auto last = url.path.find_last_not_of('/');
    return last == std::string::npos ? "" : url.path.substr(0, last + 1);
}

bool has_url_scheme(std::string_view text) noexcept {
    const auto scheme = text.substr(0, text.find("://"));
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto fits = [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    };
    return scheme.size() < text.size() && !scheme.empty() && is_letter(scheme.front()) &&
           std::ranges::all_of(scheme, fits);
}

bool has_http_scheme(std::string_view text) noexcept {
    return text.starts_with("https://") || text.starts_with("http://");
}

}  // namespace posthorn
