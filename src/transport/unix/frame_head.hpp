#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "transport/unix/frame.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// Requests and answers as frames and back, as docs/reference/wire.md says. Pure.

struct numbered_request {
    std::uint64_t number = 0;
    wire_request request;
};
struct numbered_reply {
    std::uint64_t number = 0;
    wire_reply reply;
};

/// What goes before the body on the wire: sizes and head. `error_code::invalid_argument`, which
/// quotes nothing, if a field cannot be a line of a head or the head becomes too large.
[[nodiscard]] result<std::string> request_start(std::uint64_t number, const wire_request& request);
[[nodiscard]] result<std::string> reply_start(std::uint64_t number, const wire_reply& reply);

/// `error_code::malformed_request`, which quotes nothing, if the head is none.
[[nodiscard]] result<numbered_request> read_request(frame whole);
[[nodiscard]] result<numbered_reply> read_reply(frame whole);

/// The number that a head begins with, be the rest as it may.
[[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view head);

}  // namespace posthorn
