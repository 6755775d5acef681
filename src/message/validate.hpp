#pragma once

#include <cstddef>

#include <posthorn/message.hpp>

#include "base/result.hpp"

namespace posthorn {

struct message_limits {
    std::size_t payload_size_max = std::size_t{1} << 20;
    std::size_t headers_size_max = std::size_t{16} << 10;
    std::size_t name_size_max = 255;   // Source, destination, endpoint, content type.
    std::size_t text_size_max = 1024;  // Correlation id, tenant, order and dedupe key.
};

/// Whether a message can be carried and taken in as it is: `error_code::invalid_argument`,
/// `message_too_large` or `invalid_payload` if not. Errors name the field and quote no content.
[[nodiscard]] result<> validate(const message& what, const message_limits& limits);

}  // namespace posthorn
