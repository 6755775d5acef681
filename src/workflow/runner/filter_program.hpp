#pragma once

#include <cstdint>
#include <vector>

#include "workflow/runner/syscall_list.hpp"

namespace posthorn {

/// As the kernel takes it: `struct sock_filter`.
struct filter_instruction {
    std::uint16_t code = 0;
    std::uint8_t if_true = 0;
    std::uint8_t if_false = 0;
    std::uint32_t value = 0;
    bool operator==(const filter_instruction&) const = default;
};

/// The numbers of classic BPF and of seccomp that such programs have.
namespace filter_code {
inline constexpr std::uint16_t load = 0x20;  // A word of what is called, at `value`.
inline constexpr std::uint16_t jump_if_equal = 0x15;
inline constexpr std::uint16_t jump_if_at_least = 0x35;
inline constexpr std::uint16_t jump_if_any_bit = 0x45;
inline constexpr std::uint16_t give = 0x06;
inline constexpr std::uint32_t allow = 0x7fff0000;
inline constexpr std::uint32_t deny = 0x00050001;  // With EPERM.
inline constexpr std::uint32_t kill_process = 0x80000000;
inline constexpr std::uint32_t number_at = 0;
inline constexpr std::uint32_t machine_at = 4;
inline constexpr std::uint32_t arguments_at = 16;  // The low half of each; eight bytes each.
inline constexpr std::uint32_t machine_x86_64 = 0xc000003e;
inline constexpr std::uint32_t machine_aarch64 = 0xc00000b7;
inline constexpr std::uint32_t first_x32_number = 0x40000000;
}  // namespace filter_code

/// What seccomp is given: these calls are allowed, any other one is refused with EPERM, and one in
/// the way of another machine ends the process. Pure.
[[nodiscard]] std::vector<filter_instruction> filter_for(sandbox_stage stage, machine_kind machine);

}  // namespace posthorn
