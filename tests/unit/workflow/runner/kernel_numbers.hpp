#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace posthorn::test {

/// What the kernel's own headers say a call's number is.
[[nodiscard]] std::optional<std::uint32_t> number_on_x86_64(std::string_view name);
[[nodiscard]] std::optional<std::uint32_t> number_on_aarch64(std::string_view name);

}  // namespace posthorn::test
