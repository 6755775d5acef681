#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "workflow/binary/machine.hpp"

/// Which calls of the kernel a runner may make, and with which arguments. Every other one is refused
/// with EPERM. Pure.
namespace posthorn {

/// A runner's life, as its filters divide it.
enum class sandbox_stage : std::uint8_t {
    loading,  // The binary is loaded, and its constructors run.
    running,  // Batches are taken: no file is opened any more, and no code mapped.
};

/// What the low half of an argument has to be.
struct argument_rule {
    enum class kind : std::uint8_t { equals, without };
    unsigned argument = 0;
    kind what{};
    std::uint32_t bits = 0;
};

/// One of several ways in which a call is allowed; all of its rules hold.
using call_way = std::vector<argument_rule>;

struct allowed_call {
    std::string_view name{};  // As the kernel's headers have it.
    std::uint32_t number = 0;
    std::vector<call_way> ways{};
};

/// In the order in which they are looked for: what a runner does all the time comes first.
[[nodiscard]] std::vector<allowed_call> calls_in(sandbox_stage stage, machine_kind machine);

/// All that any list names, with the numbers of both machines, for those who check them.
struct known_call {
    std::string_view name{};
    std::uint32_t x86_64 = 0;
    std::uint32_t aarch64 = 0;
};
[[nodiscard]] std::span<const known_call> all_known_calls() noexcept;

}  // namespace posthorn
