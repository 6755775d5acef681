#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "security/signature.hpp"
#include "transport/http/types.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// How the wire's fields stand in the headers of HTTP. What is not there is empty.
[[nodiscard]] signature_headers read_signature(const http_headers& headers);
/// Leaves out what is empty.
void write_signature(http_headers& headers, const signature_headers& signature);
[[nodiscard]] std::string read_header(const http_headers& headers, std::string_view name);
/// All that stands in the headers of a request of the wire.
[[nodiscard]] http_headers write_request_headers(wire_request& request);
[[nodiscard]] wire_reply read_reply(std::uint16_t status, const http_headers& headers,
                                    std::string body);
/// The first of the wire's own headers that is there twice, so that it is not clear which one
/// counts. In lower case; empty if there is none.
[[nodiscard]] std::string find_repeated(const http_headers& headers);

/// `Retry-After` in seconds. Nothing for a date, nor for what is not a number.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text);
/// In whole seconds, rounded up so that no sender comes too early.
[[nodiscard]] std::string format_retry_after(std::chrono::milliseconds time);

}  // namespace posthorn
