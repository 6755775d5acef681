#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// `http://host:port/path?query` in its parts.
struct http_url {
    bool tls = false;        // https
    std::string host;        // A name or an address, without the brackets that IPv6 wears in text.
    std::uint16_t port = 0;  // 80 or 443 where none was named.
    std::string path;   // Empty or beginning with a slash; percent-encoding is left as it came.
    std::string query;  // What followed the question mark.

    bool operator==(const http_url&) const = default;
};

/// Fails with `invalid_argument` on other schemes, on user names, on fragments, and on characters
/// that a URL cannot hold.
[[nodiscard]] result<http_url> parse_http_url(std::string_view text);
/// What the `Host` header says: the port only where it is not the scheme's own.
[[nodiscard]] std::string authority(const http_url& url);
/// `https://host:port`: what connections are shared by.
[[nodiscard]] std::string origin(const http_url& url);
/// What stands before a path of ours: the URL's own, without a slash at its end.
[[nodiscard]] std::string path_before_ours(const http_url& url);
/// Whether it begins as a URL of any scheme does: `scheme://`.
[[nodiscard]] bool has_url_scheme(std::string_view text) noexcept;
/// Whether it begins as one of HTTP does.
[[nodiscard]] bool has_http_scheme(std::string_view text) noexcept;

}  // namespace posthorn
