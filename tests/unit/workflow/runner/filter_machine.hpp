#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "workflow/runner/filter_program.hpp"

namespace posthorn::test {

/// A call of the kernel, as a filter sees it.
struct seen_call {
    std::uint32_t number = 0;
    std::uint32_t machine = 0;
    std::array<std::uint64_t, 6> arguments{};
};

/// Runs a filter as the kernel would: what it gives, or what the kernel would not take it for.
inline std::optional<std::uint32_t> run_filter(std::span<const filter_instruction> program,
                                               const seen_call& call) {
    namespace code = filter_code;
    const auto word_at = [&](std::uint32_t at) -> std::optional<std::uint32_t> {
        if (at == code::number_at) return call.number;
        if (at == code::machine_at) return call.machine;
        if (at < code::arguments_at || at % 4 != 0 || at >= code::arguments_at + 48) return {};
        const auto argument = call.arguments[(at - code::arguments_at) / 8];
        return static_cast<std::uint32_t>(at % 8 == 0 ? argument : argument >> 32U);
    };
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
        const auto& one = program[at];
        const auto jump = [&](bool holds) { at += holds ? one.if_true : one.if_false; };
        switch (one.code) {
            case code::load: {
                const auto word = word_at(one.value);
                if (!word) return {};
                accumulator = *word;
                break;
            }
            case code::jump_if_equal: jump(accumulator == one.value); break;
            case code::jump_if_at_least: jump(accumulator >= one.value); break;
            case code::jump_if_any_bit: jump((accumulator & one.value) != 0); break;
            case code::give: return one.value;
            default: return {};
        }
    }
    return {};  // It fell off its end.
}

}  // namespace posthorn::test
