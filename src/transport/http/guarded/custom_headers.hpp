#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

inline constexpr std::size_t custom_headers_max = 32;
inline constexpr std::size_t custom_header_bytes_max = 4096;

/// Whether a stranger may have this header sent: not one that we write, that tells the peer where a
/// request ends or what the connection does, or that speaks for the lines after it. Fails with
/// `invalid_argument`, naming it.
[[nodiscard]] result<> check_custom_header(std::string_view name, std::string_view value);

/// All of them, their number, and that none is there twice.
[[nodiscard]] result<> check_custom_headers(const http_headers& custom);

}  // namespace posthorn
