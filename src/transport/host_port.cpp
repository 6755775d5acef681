#include "transport/host_port.hpp"

#include <charconv>
#include <optional>

#include <boost/asio/ip/address.hpp>

namespace posthorn {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [stop, failure] = std::from_chars(text.begin(), text.end(), port);
    if (text.empty() || failure != std::errc{} || stop != text.end()) return std::nullopt;
    return port;
}

// Names beyond localhost would need a lookup, which blocks and may give several addresses.
bool is_usable_host(std::string_view host, bool bracketed) {
    if (host == "localhost") return !bracketed;
    if (host.find('\0') != host.npos) return false;  // What follows would not be looked at.
    boost::system::error_code failure;
    const auto address = boost::asio::ip::make_address(std::string(host), failure);
    return !failure && address.is_v6() == bracketed;
}

}  // namespace

result<host_port> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    std::string_view host = text.substr(0, colon == text.npos ? 0 : colon);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    const auto port = colon == text.npos ? std::nullopt : parse_port(text.substr(colon + 1));
    if (!port || !is_usable_host(host, bracketed))
        return fail(error_code::address_unavailable,
                    "'{}' is not an address to listen on; write ADDRESS:PORT, such as "
                    "127.0.0.1:7400, [::1]:7400 or 0.0.0.0:7400 (port 0 is any free one)",
                    text);
    return host_port{std::string(host), *port};
}

std::string to_string(const host_port& address) {
    const bool v6 = address.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", address.host, v6 ? "]" : "", address.port);
}

}  // namespace posthorn
