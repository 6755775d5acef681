#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// How the URLs of one kind of broker are written.
struct broker_scheme {
    std::string_view plain;  // `amqp`
    std::string_view tls;    // `amqps`
    std::uint16_t plain_port;
    std::uint16_t tls_port;
    bool has_path = false;  // Something may stand behind the address: a virtual host.
};

/// Where a broker is, and as whom it is spoken to.
struct broker_url {
    bool tls = false;
    std::string user{};  // Empty where the URL names none.
    std::string host{};  // Without the brackets that IPv6 wears in text.
    std::uint16_t port = 0;
    std::string path{};  // Decoded, without its first slash.

    bool operator==(const broker_url&) const = default;
};

/// Reads `amqp://USER@HOST:PORT/PATH`. `error_code::invalid_configuration` says what is wrong and
/// quotes nothing: a password may stand where none belongs, and one is refused.
[[nodiscard]] result<broker_url> parse_broker_url(std::string_view text,
                                                  const broker_scheme& scheme);

/// The same as a route has it. Its path is left as it is written.
[[nodiscard]] result<route_url> broker_route(std::string_view text, const broker_scheme& scheme);

}  // namespace posthorn
