#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "base/result.hpp"
#include "base/text/http_url.hpp"

namespace posthorn {

// What a URL that a stranger gave may lead to: a public server, and nothing of ours. Without clock
// or I/O. What is not known to be public is refused; docs/internals/strangers.md has the list.

using ip_address = boost::asio::ip::address;

inline constexpr std::size_t guarded_url_bytes_max = 2048;

/// A range of addresses, such as `10.0.0.0/8` or `fd00::/8`.
class ip_network {
public:
    /// An address alone is a network of one. Fails with `invalid_argument`, also where bits are set
    /// behind the prefix: the text would say something other than it means.
    [[nodiscard]] static result<ip_network> parse(std::string_view text);

    /// An IPv4 address that lies in an IPv6 one is looked for as IPv4.
    [[nodiscard]] bool contains(const ip_address& one) const;
    [[nodiscard]] std::string text() const;

    bool operator==(const ip_network&) const = default;

private:
    ip_network(ip_address first, unsigned bits) : first_(std::move(first)), bits_(bits) {}

    ip_address first_;
    unsigned bits_ = 0;
};

/// Of `10.0.0.0/8, ::1`; fails as `ip_network::parse` does.
[[nodiscard]] result<std::vector<ip_network>> parse_networks(std::string_view listed);

/// What an operator lets strangers' URLs lead to beyond public servers over https.
struct guard_rules {
    bool plain_http = false;
    std::vector<ip_network> allow{};  // Never refused, this machine's own addresses among them.
    std::vector<ip_address> own{};    // This machine's addresses, which are refused.
};

/// Why an address is not called. A stranger is told that it is so and not why: what the reason
/// says of the network behind us is for its operators.
class address_refusal {
public:
    explicit address_refusal(std::string reason) : reason_(std::move(reason)) {}

    [[nodiscard]] static std::string_view for_subscriber() noexcept {
        return "address not allowed";
    }
    [[nodiscard]] const std::string& for_operator() const noexcept { return reason_; }

private:
    std::string reason_;
};

template <class T = void>
using guarded = std::expected<T, address_refusal>;

/// The parts of a URL that may be called, if its name resolves to what may be; its host in lower
/// case and without a dot at its end. An address in it is judged too.
[[nodiscard]] guarded<http_url> judge_url(std::string_view text, const guard_rules& rules);

/// By the IPv4 address inside, where it is a mapped one or one of NAT64.
[[nodiscard]] guarded<> judge_address(const ip_address& one, const guard_rules& rules);

/// What a name resolved to: all of it may be called, or none.
[[nodiscard]] guarded<> judge_answer(std::span<const ip_address> found, const guard_rules& rules);

/// The address that a host is, if it is one: IPv4 as four plain decimals, or IPv6 without a zone.
[[nodiscard]] std::optional<ip_address> parse_plain_address(std::string_view host);

}  // namespace posthorn
