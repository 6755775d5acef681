#pragma once

#include <cstddef>
#include <string_view>

#include <posthorn/message.hpp>

#include "base/result.hpp"

namespace posthorn {

/// Each is a key under `[limits]` of the configuration, which its error names.
struct message_limits {
    std::size_t payload_size_max = std::size_t{1} << 20;
    std::size_t headers_size_max = std::size_t{16} << 10;
    std::size_t name_size_max = 255;   // Source, destination, endpoint, content type.
    std::size_t text_size_max = 1024;  // Correlation id, tenant, order and dedupe key.
    std::size_t depth_max = 64;        // Of JSON in payload and headers; at most `json_depth_max`.
};

/// Whether the content type says JSON, with parameters or without.
[[nodiscard]] bool is_json_type(std::string_view content_type) noexcept;

/// Names, texts, sizes and nesting alone: for messages whose JSON was checked when they were read.
[[nodiscard]] result<> validate_outside(const message& what, const message_limits& limits);

/// `error_code::invalid_argument`, `message_expired`, `message_too_large` or `invalid_payload` if a
/// message cannot be carried and taken in as it is. Errors name the field and quote no content.
[[nodiscard]] result<> validate(const message& what, const message_limits& limits);

}  // namespace posthorn
