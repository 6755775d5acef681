#pragma once

#include <cstdint>
#include <string_view>

namespace posthorn {

/// The machines that workflows are deployed to.
enum class machine_kind : std::uint8_t { x86_64, aarch64 };

[[nodiscard]] constexpr std::string_view to_string(machine_kind kind) noexcept {
    return kind == machine_kind::x86_64 ? "x86_64" : "aarch64";
}

/// The one that this program was built for.
[[nodiscard]] constexpr machine_kind machine_here() noexcept {
#if defined(__aarch64__)
    return machine_kind::aarch64;
#elif defined(__x86_64__)
    return machine_kind::x86_64;
#else
#error "workflows are deployed to x86_64 and aarch64"
#endif
}

}  // namespace posthorn
