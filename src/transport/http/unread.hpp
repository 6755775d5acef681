#pragma once

#include <cstddef>

namespace posthorn {

/// What a connection holds at most of what it has read and not yet understood: the longest headers
/// and one read more. Chunks have heads and trailers too, which no other limit counts.
[[nodiscard]] constexpr std::size_t unread_bytes_max(std::size_t header_bytes_max) noexcept {
    return header_bytes_max + std::size_t{64} * 1024;
}

}  // namespace posthorn
