#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace posthorn::crash {

/// What link `n` of a chain must be after a link with the hash `before`: FNV-1a.
[[nodiscard]] inline std::string link_hash(std::int64_t n, std::string_view before) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](char byte) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    };
    for (const char byte : fmt::format("{}/{}", before, n)) add(byte);
    return fmt::format("{:016x}", hash);
}

}  // namespace posthorn::crash
