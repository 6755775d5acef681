#include "fuzz/address_target.hpp"

#include <array>
#include <optional>
#include <string>

#include <arpa/inet.h>

#include "app/config/route_url.hpp"
#include "base/text/http_url.hpp"
#include "base/text/percent.hpp"
#include "fuzz/promise.hpp"
#include "transport/host_port.hpp"
#include "transport/http/types.hpp"
#include "transport/pipe/pipe_path.hpp"

namespace posthorn {
namespace {

using fuzz::demand;

using address_bytes = std::array<unsigned char, 16>;

std::optional<address_bytes> system_address(int family, std::string_view text) {
    address_bytes bytes{};
    // A zone such as %eth0 is no part of the address.
    const std::string plain(text.substr(0, family == AF_INET6 ? text.find('%') : text.npos));
    if (plain.find('\0') != plain.npos || inet_pton(family, plain.c_str(), bytes.data()) != 1)
        return std::nullopt;
    return bytes;
}

bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

void listen_on(std::string_view text) {
    const auto taken = parse_host_port(text);
    if (!taken)
        return demand(taken.error().code() == error_code::address_unavailable,
                      "an address that is none has its own error");
    demand(taken->host == "localhost" || system_address(AF_INET, taken->host) ||
               system_address(AF_INET6, taken->host),
           "only an address, or localhost, is listened on");
    demand(parse_host_port(to_string(*taken)) == *taken, "an address comes back as it was written");
}

void call(std::string_view text) {
    const auto taken = parse_http_url(text);
    if (!taken)
        return demand(taken.error().code() == error_code::invalid_argument,
                      "a URL that is none has its own error");
    demand(taken->port != 0 && !taken->host.empty(), "a URL leads somewhere");
    for (const auto& part : {taken->host, taken->path, taken->query})
        demand(is_plain(part), "no part of a URL ends a line");
    demand(taken->host.find_first_of("@/?#[]") == std::string::npos, "a host is only a host");
    const auto query = taken->query.empty() ? "" : "?" + taken->query;
    const auto again = parse_http_url(origin(*taken) + taken->path + query);
    demand(again && *again == *taken, "a URL comes back as it was written");
}

void route_to(std::string_view text) {
    const auto taken = parse_route_url(text);
    if (!taken)
        return demand(taken.error().code() == error_code::invalid_configuration,
                      "a route that is none has its own error");
    if (taken->scheme == "inprocess")
        return demand(text == "inprocess:", "only one text stays here");
    if (taken->scheme == "unix")
        return demand(taken->path.size() > 1 && taken->path.find('\0') == std::string::npos,
                      "a socket has a path that the system can be told");
    if (taken->scheme == "pipe")
        return demand(pipe_path(taken->path).has_value(), "a pipe has a name that can be opened");
    if (taken->scheme == "grpc" || taken->scheme == "grpcs")
        return demand(taken->port != 0 && !taken->host.empty() && is_plain(taken->host) &&
                          taken->host.find_first_of("@/?#[]") == std::string::npos,
                      "gRPC is told a host and a port");
    const auto opened = parse_http_url(text);
    demand(opened.has_value(), "what is a route to one part is one to the part that connects");
    demand(opened->host == taken->host && opened->port == taken->port &&
               opened->tls == (taken->scheme == "https") && opened->query.empty(),
           "both parts connect to the same place");
    demand(opened->path.starts_with(taken->path) && !taken->path.ends_with('/'),
           "both parts put the same path before ours");
}

void arrive_at(std::string_view text) {
    if (const auto target = split_target(text)) {
        demand(target->path.starts_with('/') && target->path.find('?') == target->path.npos,
               "a path begins with a slash and ends before the query");
        demand(text.ends_with(target->query), "a query is what follows the question mark");
    }
    if (const auto decoded = percent_decode(text)) {
        std::string encoded;
        for (const char c : *decoded) {
            constexpr std::string_view digits = "0123456789ABCDEF";
            const auto byte = static_cast<unsigned char>(c);
            encoded += '%';
            encoded += digits[byte / 16];
            encoded += digits[byte % 16];
        }
        demand(percent_decode(encoded) == decoded, "what was decoded can be encoded");
    }
    const auto v4 = system_address(AF_INET, text);
    const bool local =
        (v4 && v4->front() == 127) ||
        (!text.contains('%') && system_address(AF_INET6, text) == system_address(AF_INET6, "::1"));
    demand(is_loopback(text) == local, "this machine is 127.0.0.0/8 and ::1, and nothing else");
}

}  // namespace

void fuzz_address(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::text_of(data, size);
    listen_on(text);
    call(text);
    route_to(text);
    arrive_at(text);
    for (const std::string_view scheme : {"http://", "https://", "unix://", "pipe://", "grpc://"})
        route_to(std::string(scheme) + std::string(text));
    const auto filled = for_service("http://{service}.local/{service}", text);
    demand(filled == "http://" + std::string(text) + ".local/" + std::string(text),
           "a service's name is put in once at each place");
    route_to(filled);
}

}  // namespace posthorn
