#include "workflow/runner/sandbox_plan.hpp"

#include "base/planted.hpp"

namespace posthorn {
namespace {

/// The lowest bits, one for each right.
constexpr std::uint64_t rights(unsigned count) { return (std::uint64_t{1} << count) - 1; }

constexpr std::uint64_t stack_bytes = 8UL << 20U;
// In and out, the binary and its copy that the loader opens, three that lead nowhere, and one.
constexpr std::uint64_t files_max = 8;

}  // namespace

result<> check_kernel(const kernel_facts& facts) {
    constexpr std::string_view without = "binaries of workflows are not run without it";
    if (facts.landlock_version < 1)
        return fail(error_code::invalid_configuration,
                    "this kernel has no Landlock, and {}: take Linux 5.13 or later, with landlock "
                    "among the names in lsm= or CONFIG_LSM",
                    without);
    if (!facts.has_filters || !facts.can_deny || !facts.can_end_process)
        return fail(error_code::invalid_configuration,
                    "this kernel has no seccomp with filters, and {}: take one that is built with "
                    "CONFIG_SECCOMP_FILTER",
                    without);
    if (!facts.can_seal)
        return fail(error_code::invalid_configuration,
                    "this kernel seals no files in memory, and {}: it needs memfd_create with "
                    "F_ADD_SEALS",
                    without);
    return {};
}

landlock_plan plan_landlock(int version) noexcept {
    landlock_plan plan{.files = rights(13), .bytes = 8};
    if (version >= 2) plan.files = rights(14);  // Moving between folders.
    if (version >= 3) plan.files = rights(15);  // Cutting off.
    if (version >= 4) {
        plan.network = rights(2);
        plan.bytes = 16;
    }
    if (version >= 5) plan.files = rights(16);  // What devices are told.
    if (version >= 6) {
        plan.scoped = rights(2);
        plan.bytes = 24;
    }
    return plan;
}

result<sandbox_plan> plan_sandbox(const kernel_facts& facts, machine_kind machine,
                                  const sandbox_options& options) {
    POSTHORN_TRY(check_kernel(facts));
    const auto second =
        POSTHORN_PLANTED(second_filter_missing) ? sandbox_stage::loading : sandbox_stage::running;
    return sandbox_plan{.limits = {{limit_kind::memory, options.memory_bytes_max},
                                   {limit_kind::file_size, 0},
                                   {limit_kind::open_files, files_max},
                                   {limit_kind::processes, 0},
                                   {limit_kind::core_size, 0},
                                   {limit_kind::stack, stack_bytes},
                                   {limit_kind::locked, 0},
                                   {limit_kind::queues, 0}},
                        .landlock = plan_landlock(facts.landlock_version),
                        .while_loading = filter_for(sandbox_stage::loading, machine),
                        .while_running = filter_for(second, machine)};
}

}  // namespace posthorn
