#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "workflow/runner/filter_program.hpp"

/// What a runner puts on itself before anything of the binary runs, as data. Pure.
namespace posthorn {

/// What the kernel said when it was asked.
struct kernel_facts {
    int landlock_version = 0;  // Zero or less if there is none.
    bool has_filters = false;  // seccomp with programs.
    bool can_deny = false;     // Its answers: an error, and the end of the process.
    bool can_end_process = false;
    bool can_seal = false;  // A file in memory that none can change any more.
};

/// Refused by name where a part is missing: nothing runs with less.
[[nodiscard]] result<> check_kernel(const kernel_facts& facts);

enum class limit_kind : std::uint8_t {
    memory,      // RLIMIT_AS
    file_size,   // RLIMIT_FSIZE
    open_files,  // RLIMIT_NOFILE
    processes,   // RLIMIT_NPROC
    core_size,   // RLIMIT_CORE
    stack,       // RLIMIT_STACK
    locked,      // RLIMIT_MEMLOCK
    queues,      // RLIMIT_MSGQUEUE
};
struct resource_limit {
    limit_kind what{};
    std::uint64_t most = 0;
    bool operator==(const resource_limit&) const = default;
};

/// What Landlock is to hold: all that this version of it knows, with no exception.
struct landlock_plan {
    std::uint64_t files = 0;
    std::uint64_t network = 0;
    std::uint64_t scoped = 0;  // Signals to, and sockets of, others.
    std::size_t bytes = 0;     // Of the three, that the version takes.
    bool operator==(const landlock_plan&) const = default;
};

struct sandbox_options {
    std::uint64_t memory_bytes_max = 512UL << 20U;
};

struct sandbox_plan {
    std::vector<resource_limit> limits{};
    landlock_plan landlock{};
    std::vector<filter_instruction> while_loading{};
    std::vector<filter_instruction> while_running{};
};

[[nodiscard]] landlock_plan plan_landlock(int version) noexcept;
[[nodiscard]] result<sandbox_plan> plan_sandbox(const kernel_facts& facts, machine_kind machine,
                                                const sandbox_options& options);

}  // namespace posthorn
