#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// The scheme of a route, and what it leads to.
struct route_url {
    enum class kind : std::uint8_t { inprocess, http, https, unix_socket, pipe, grpc, grpcs };
    kind scheme = kind::inprocess;
    std::string host{};      // Without brackets.
    std::uint16_t port = 0;  // 80 and 443 unless given.
    /// Of a socket; the name of a pipe; or what stands before ours, without a slash at its end.
    std::string path{};

    bool operator==(const route_url&) const = default;
    [[nodiscard]] bool leaves_process() const noexcept { return scheme != kind::inprocess; }
    /// Whether anybody on the way can read along.
    [[nodiscard]] bool is_plain() const noexcept {
        return scheme == kind::http || scheme == kind::grpc;
    }
};

/// `error_code::invalid_configuration`, which says what can be written, if it is none. `{service}`
/// in a default route is replaced before.
[[nodiscard]] result<route_url> parse_route_url(std::string_view text);
[[nodiscard]] std::string for_service(std::string_view url, std::string_view destination);

}  // namespace posthorn
