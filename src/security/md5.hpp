#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace posthorn {

/// MD5, where ids of others' making need it. It proves nothing.
[[nodiscard]] std::array<std::uint8_t, 16> md5(std::string_view text);

}  // namespace posthorn
