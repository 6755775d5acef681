#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.hpp"
#include "base/result.hpp"
#include "base/run/environment.hpp"
#include "transport/host_port.hpp"
#include "transport/listener.hpp"
#include "transport/transport.hpp"
#include "transport/wire/exchange.hpp"
#include "transport/wire/peer_keys.hpp"

namespace posthorn {

struct http_limits;
struct http_request;
struct http_response;
struct tls_files;
struct tls_trust;
class tls_server;

/// What a route's URL leads to.
struct route_url {
    std::string scheme = "inprocess";
    std::string host{};      // Without brackets.
    std::uint16_t port = 0;  // 80 and 443 unless given.
    /// Of a socket; the name of a pipe; or what stands before ours, without a slash at its end.
    std::string path{};

    bool operator==(const route_url&) const = default;
};

/// What a route says beside its URL, in the words of its kind.
using route_options = std::map<std::string, std::string, std::less<>>;

/// All that a way to one peer is made from. What it refers to outlives the way.
struct transport_request {
    const environment& env;
    task_group& connections;  // Where its connections run.
    const peer_keys& keys;
    const tls_trust& tls;
    std::string service;                // Ours.
    std::string destination;            // The peer's.
    std::string url;                    // As it was written.
    route_url to;                       // As it was read.
    std::string peer_name;              // What its certificate must vouch for too, if not empty.
    std::chrono::milliseconds timeout;  // Of one exchange.
    std::size_t connections_max;
    std::size_t reply_bytes_max;
    route_options options{};
    /// Reads it anew, from where it lies; empty where the route has none.
    std::function<result<std::string>()> password{};
};

/// Where to listen: an address, or a path for what has none.
struct listen_place {
    host_port address{};
    std::string path{};
};

/// All that a listener is made from. What it refers to outlives the listener.
struct listen_request {
    const environment& env;
    listen_place at;
    std::function<task<wire_reply>(wire_request)> messages;  // What peers send.
    std::function<task<http_response>(http_request)> http;   // That and more, where HTTP is spoken.
    std::function<std::optional<http_response>(const http_request&)> refuses;  // By the headers.
    const http_limits& limits;
    const tls_server* tls;  // Null for plain ones.
    const tls_files& certificate;
};

/// One way of reaching peers and of being reached. Each is described in its own folder, and
/// `app/transports.cpp` lists them.
struct transport_kind {
    std::vector<std::string_view> schemes;  // Of its URLs.
    std::vector<std::string_view> plain{};  // Those of them that others on the way can read.
    std::vector<std::string_view> written;  // How such a URL is written, for an error's text.
    /// Whether its messages are signed, for which a secret is needed.
    bool is_signed = true;
    /// Why this program cannot use it, naming the package that it was built without.
    std::string_view left_out{};
    /// What a route of it may say beside its URL; and whether a password too.
    std::vector<std::string_view> options{};
    bool has_password = false;
    /// `error_code::invalid_configuration` if they cannot be used. Null where there are none.
    result<> (*check_options)(const route_options& options) = nullptr;
    /// Of a broker, when what it has confirmed may yet be lost: for `posthorn doctor`.
    std::string_view keeps{};
    /// A try costs next to nothing, so one that does not answer is tried so often at least.
    std::optional<std::chrono::milliseconds> probe_pause_max{};

    /// Given a URL of one of its schemes. An error of any text if it cannot be used; one of
    /// `error_code::invalid_configuration` is told as it is.
    result<route_url> (*parse)(std::string_view url);
    /// Null where the node finds such peers by itself.
    result<std::unique_ptr<transport>> (*connect)(const transport_request& wanted) = nullptr;

    /// The key in `[listen]` that asks for it; empty where it is never listened on.
    std::string_view listen_key{};
    /// `error_code::address_unavailable` or `certificate_unusable`.
    result<std::unique_ptr<listener>> (*listen)(listen_request wanted) = nullptr;
};

}  // namespace posthorn
