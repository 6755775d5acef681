#include "workflow/runner/syscall_list.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace posthorn {
namespace {

using enum argument_rule::kind;

// Of the kernel's interface, the same on both machines.
constexpr std::uint32_t protect_write = 2;
constexpr std::uint32_t protect_run = 4;
constexpr std::uint32_t map_anonymous = 0x20;
// O_WRONLY and O_RDWR, O_CREAT, O_TRUNC, O_PATH.
constexpr std::uint32_t open_for_more_than_reading = 0x3 | 0x40 | 0x200 | 0x200000;
constexpr std::uint32_t set_mode_filter = 1;

constexpr std::array known{
    known_call{"read", 0, 63},         known_call{"write", 1, 64},
    known_call{"futex", 202, 98},      known_call{"brk", 12, 214},
    known_call{"mmap", 9, 222},        known_call{"munmap", 11, 215},
    known_call{"mremap", 25, 216},     known_call{"madvise", 28, 233},
    known_call{"mprotect", 10, 226},   known_call{"exit", 60, 93},
    known_call{"exit_group", 231, 94}, known_call{"openat", 257, 56},
    known_call{"close", 3, 57},        known_call{"pread64", 17, 67},
    known_call{"fstat", 5, 80},        known_call{"newfstatat", 262, 79},
    known_call{"seccomp", 317, 277},
};

std::vector<call_way> any_way() { return {{}}; }

/// Memory for data; while the binary is loaded its code too, out of the file that is sealed: nothing
/// is ever both written and run.
std::vector<call_way> ways_of_mmap(sandbox_stage stage) {
    constexpr unsigned protection = 2;
    constexpr unsigned flags = 3;
    std::vector<call_way> ways{{{protection, without, protect_run}}};
    if (stage == sandbox_stage::loading)
        ways.push_back({{protection, without, protect_write}, {flags, without, map_anonymous}});
    return ways;
}

struct named_call {
    std::string_view name{};
    std::vector<call_way> ways{};
};

std::vector<named_call> names_in(sandbox_stage stage) {
    std::vector<named_call> all{
        {"read", any_way()},
        {"write", any_way()},
        {"futex", any_way()},
        {"brk", any_way()},
        {"mmap", ways_of_mmap(stage)},
        {"munmap", any_way()},
        {"mremap", any_way()},
        {"madvise", any_way()},
        {"mprotect", {{{2, without, protect_run}}}},
        {"exit", any_way()},
        {"exit_group", any_way()},
    };
    if (stage == sandbox_stage::running) return all;
    all.push_back({"openat", {{{2, without, open_for_more_than_reading}}}});
    all.push_back({"close", any_way()});
    all.push_back({"pread64", any_way()});
    all.push_back({"fstat", any_way()});
    all.push_back({"newfstatat", any_way()});
    all.push_back({"seccomp", {{{0, equals, set_mode_filter}}}});
    return all;
}

}  // namespace

std::span<const known_call> all_known_calls() noexcept { return known; }

std::vector<allowed_call> calls_in(sandbox_stage stage, machine_kind machine) {
    std::vector<allowed_call> calls;
    for (auto& each : names_in(stage)) {
        const auto numbers = std::ranges::find(known, each.name, &known_call::name);
        POSTHORN_ASSERT(numbers != known.end());
        calls.push_back(
            {.name = numbers->name,
             .number = machine == machine_kind::x86_64 ? numbers->x86_64 : numbers->aarch64,
             .ways = std::move(each.ways)});
    }
    return calls;
}

}  // namespace posthorn
