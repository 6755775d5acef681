#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/task.hpp"

namespace posthorn {

/// Header fields in the order they came; names compare whatever their case.
class http_headers {
public:
    using field = std::pair<std::string, std::string>;

    http_headers() = default;
    http_headers(std::initializer_list<field> fields) : fields_(fields) {}

    void add(std::string name, std::string value);
    /// The first value of that name.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

    [[nodiscard]] auto begin() const { return fields_.begin(); }
    [[nodiscard]] auto end() const { return fields_.end(); }
    bool operator==(const http_headers&) const = default;

private:
    std::vector<field> fields_;
};

struct http_request {
    std::string method;  // As sent; methods are case-sensitive.
    std::string path;    // Starts with a slash; percent-encoding is left as it came.
    std::string query;   // What followed the question mark.
    http_headers headers;
    std::string body;
    /// What stood for each `{name}` of the route, percent-decoded; filled by the router.
    std::map<std::string, std::string, std::less<>> parameters{};
    /// The names that the peer's certificate vouches for; nothing where none was asked for.
    std::optional<std::vector<std::string>> certified{};
    std::string peer{};  // The address that it came from, without the port; empty if not known.
    /// Whether the peer is gone, for an answer that takes long; empty if that cannot be known. On
    /// the server's executor, until the request is answered.
    std::function<bool()> has_hung_up{};
};

class http_body_source;

/// The server adds the length and whether the connection stays.
struct http_response {
    std::uint16_t status = 200;
    http_headers headers;
    std::string body;
    /// The request has shown a key that is known here, so its connection is worth keeping.
    bool known_caller = false;
    /// If given, the body is what this gives, piece by piece, for as long as it does.
    std::shared_ptr<http_body_source> pieces{};
};

/// Answers one request. Runs on the server's executor; one that throws becomes a 500.
using http_handler = std::function<task<http_response>(http_request)>;
/// Refuses a request by its headers alone, so that a long body need not be read.
using http_head_check = std::function<std::optional<http_response>(const http_request& head)>;

[[nodiscard]] http_response json_response(std::uint16_t status, std::string body);
/// `{"error": code, "message": …}`: what every refusal looks like on the wire.
[[nodiscard]] http_response error_response(std::uint16_t status, std::string_view code,
                                           std::string_view message);

/// Path and query of a request target, which proxies may send with scheme and host before it.
struct http_target {
    std::string_view path;
    std::string_view query;
    bool operator==(const http_target&) const = default;
};
/// Nothing if the target names no path.
[[nodiscard]] std::optional<http_target> split_target(std::string_view target);

/// Whether a request's `peer` is this very machine.
[[nodiscard]] bool is_loopback(std::string_view peer);

}  // namespace posthorn
