#include "workflow/runner/sandbox_plan.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/workflow/runner/filter_machine.hpp"
#include "unit/workflow/runner/kernel_numbers.hpp"

namespace posthorn {
namespace {

using test::run_filter;
using test::seen_call;
using testing::HasSubstr;

constexpr kernel_facts good{.landlock_version = 7,
                            .has_filters = true,
                            .can_deny = true,
                            .can_end_process = true,
                            .can_seal = true};

std::uint32_t number(std::string_view name, machine_kind machine) {
    const auto found = machine == machine_kind::x86_64 ? test::number_on_x86_64(name)
                                                       : test::number_on_aarch64(name);
    EXPECT_TRUE(found) << name;
    return found.value_or(~0U);
}

std::uint32_t name_of_machine(machine_kind machine) {
    return machine == machine_kind::x86_64 ? filter_code::machine_x86_64
                                           : filter_code::machine_aarch64;
}

/// `allowed`, `refused`, `killed`
std::string judge(sandbox_stage stage, machine_kind machine, std::string_view name,
                  std::array<std::uint64_t, 6> arguments = {}) {
    const auto given = run_filter(filter_for(stage, machine),
                                  {number(name, machine), name_of_machine(machine), arguments});
    if (given == filter_code::allow) return "allowed";
    if (given == filter_code::deny) return "refused";
    return given == filter_code::kill_process ? "killed" : "broken";
}

constexpr std::array machines{machine_kind::x86_64, machine_kind::aarch64};
constexpr std::array stages{sandbox_stage::loading, sandbox_stage::running};

TEST(syscall_list, has_the_numbers_of_the_kernels_headers) {
    for (const auto& each : all_known_calls()) {
        EXPECT_EQ(test::number_on_x86_64(each.name), each.x86_64) << each.name;
        EXPECT_EQ(test::number_on_aarch64(each.name), each.aarch64) << each.name;
    }
}

TEST(syscall_list, names_the_same_calls_on_both_machines) {
    for (const auto stage : stages) {
        const auto here = calls_in(stage, machine_kind::x86_64);
        const auto there = calls_in(stage, machine_kind::aarch64);
        ASSERT_EQ(here.size(), there.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            EXPECT_EQ(here[i].name, there[i].name);
            EXPECT_EQ(here[i].ways.size(), there[i].ways.size()) << here[i].name;
        }
        std::set<std::uint32_t> numbers;
        for (const auto& each : there) EXPECT_TRUE(numbers.insert(each.number).second) << each.name;
    }
}

TEST(syscall_list, allows_while_running_nothing_that_loading_does_not) {
    const auto loading = calls_in(sandbox_stage::loading, machine_kind::x86_64);
    for (const auto& each : calls_in(sandbox_stage::running, machine_kind::x86_64))
        EXPECT_NE(std::ranges::find(loading, each.name, &allowed_call::name), loading.end())
            << each.name;
    EXPECT_EQ(calls_in(sandbox_stage::running, machine_kind::x86_64).size(), 11U);
}

TEST(filter_program, judges_calls_by_their_arguments) {
    constexpr std::uint64_t read = 1, write = 2, run = 4;
    constexpr std::uint64_t anonymous = 0x20, own = 2;
    struct row {
        std::string_view call;
        std::array<std::uint64_t, 6> arguments;
        std::string_view loading;
        std::string_view running;
    };
    const std::vector<row> rows{
        {"read", {}, "allowed", "allowed"},
        {"write", {5}, "allowed", "allowed"},
        {"exit_group", {}, "allowed", "allowed"},
        {"mmap", {0, 1, read | write, anonymous | own}, "allowed", "allowed"},
        {"mmap", {0, 1, read | write, own, 5}, "allowed", "allowed"},
        {"mmap", {0, 1, read | run, own, 5}, "allowed", "refused"},
        {"mmap", {0, 1, read | run, anonymous | own}, "refused", "refused"},
        {"mmap", {0, 1, read | write | run, own, 5}, "refused", "refused"},
        {"mmap", {0, 1, read | write | run, anonymous | own}, "refused", "refused"},
        {"mprotect", {0, 1, read}, "allowed", "allowed"},
        {"mprotect", {0, 1, read | write}, "allowed", "allowed"},
        {"mprotect", {0, 1, read | run}, "refused", "refused"},
        {"openat", {0, 0, 0x80000}, "allowed", "refused"},
        {"openat", {0, 0, 1}, "refused", "refused"},
        {"openat", {0, 0, 2}, "refused", "refused"},
        {"openat", {0, 0, 0x40}, "refused", "refused"},
        {"openat", {0, 0, 0x200}, "refused", "refused"},
        {"openat", {0, 0, 0x200000}, "refused", "refused"},
        {"seccomp", {1}, "allowed", "refused"},
        {"seccomp", {0}, "refused", "refused"},
        {"close", {}, "allowed", "refused"},
        {"fstat", {}, "allowed", "refused"},
        {"execve", {}, "refused", "refused"},
        {"execveat", {}, "refused", "refused"},
        {"clone", {}, "refused", "refused"},
        {"clone3", {}, "refused", "refused"},
        {"socket", {}, "refused", "refused"},
        {"connect", {}, "refused", "refused"},
        {"ptrace", {}, "refused", "refused"},
        {"kill", {}, "refused", "refused"},
    };
    for (const auto machine : machines)
        for (const auto& each : rows) {
            EXPECT_EQ(judge(sandbox_stage::loading, machine, each.call, each.arguments),
                      each.loading)
                << each.call << " on " << to_string(machine);
            EXPECT_EQ(judge(sandbox_stage::running, machine, each.call, each.arguments),
                      each.running)
                << each.call << " on " << to_string(machine);
        }
}

TEST(filter_program, refuses_every_number_that_is_not_on_the_list) {
    for (const auto machine : machines)
        for (const auto stage : stages) {
            const auto program = filter_for(stage, machine);
            const auto listed = calls_in(stage, machine);
            for (std::uint32_t each = 0; each < 1024; ++each) {
                if (std::ranges::find(listed, each, &allowed_call::number) != listed.end())
                    continue;
                EXPECT_EQ(run_filter(program, {each, name_of_machine(machine)}), filter_code::deny)
                    << each;
            }
        }
}

TEST(filter_program, ends_what_calls_in_the_way_of_another_machine) {
    for (const auto machine : machines)
        for (const auto stage : stages)
            for (const std::uint32_t other : {0U, 0x40000003U, 0x40000028U, 0xffffffffU})
                for (std::uint32_t call = 0; call < 300; ++call)
                    EXPECT_EQ(run_filter(filter_for(stage, machine), {call, other}),
                              filter_code::kill_process);
    const auto program = filter_for(sandbox_stage::running, machine_kind::x86_64);
    EXPECT_EQ(run_filter(program, {0x40000000, filter_code::machine_x86_64}),
              filter_code::kill_process);
    EXPECT_EQ(run_filter(program, {0xffffffff, filter_code::machine_x86_64}),
              filter_code::kill_process);
}

TEST(filter_program, is_one_that_the_kernel_takes) {
    for (const auto machine : machines)
        for (const auto stage : stages) {
            const auto program = filter_for(stage, machine);
            EXPECT_LE(program.size(), 4096U);
            for (std::size_t at = 0; at < program.size(); ++at) {
                EXPECT_LT(at + program[at].if_true + 1, program.size() + 1);
                if (program[at].code != filter_code::give)
                    EXPECT_LT(at + 1 + std::max(program[at].if_true, program[at].if_false),
                              program.size());
            }
            EXPECT_EQ(program.back().code, filter_code::give);
        }
}

TEST(sandbox_plan, is_refused_by_name_where_a_part_is_missing) {
    struct row {
        kernel_facts facts;
        std::string_view named;
    };
    auto none = good;
    none.landlock_version = 0;
    auto failed = good;
    failed.landlock_version = -1;
    auto unfiltered = good;
    unfiltered.has_filters = false;
    auto lax = good;
    lax.can_deny = false;
    auto lasting = good;
    lasting.can_end_process = false;
    auto unsealed = good;
    unsealed.can_seal = false;
    for (const auto& [facts, named] :
         {row{none, "Landlock"}, row{failed, "Landlock"}, row{unfiltered, "seccomp"},
          row{lax, "seccomp"}, row{lasting, "seccomp"}, row{unsealed, "seals"}}) {
        const auto plan = plan_sandbox(facts, machine_kind::x86_64, {});
        ASSERT_FALSE(plan);
        EXPECT_EQ(plan.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(plan.error().what(), HasSubstr(std::string(named)));
    }
    EXPECT_TRUE(plan_sandbox(good, machine_kind::x86_64, {}));
}

TEST(sandbox_plan, holds_all_that_each_version_of_landlock_knows) {
    EXPECT_EQ(plan_landlock(1), (landlock_plan{.files = 0x1fff, .bytes = 8}));
    EXPECT_EQ(plan_landlock(2), (landlock_plan{.files = 0x3fff, .bytes = 8}));
    EXPECT_EQ(plan_landlock(3), (landlock_plan{.files = 0x7fff, .bytes = 8}));
    EXPECT_EQ(plan_landlock(4), (landlock_plan{.files = 0x7fff, .network = 3, .bytes = 16}));
    EXPECT_EQ(plan_landlock(5), (landlock_plan{.files = 0xffff, .network = 3, .bytes = 16}));
    EXPECT_EQ(plan_landlock(6),
              (landlock_plan{.files = 0xffff, .network = 3, .scoped = 3, .bytes = 24}));
    EXPECT_EQ(plan_landlock(99), plan_landlock(6));
}

TEST(sandbox_plan, limits_memory_as_told_and_the_rest_to_nothing) {
    const auto plan = plan_sandbox(good, machine_kind::aarch64, {.memory_bytes_max = 1000});
    ASSERT_TRUE(plan);
    for (const auto& each : plan->limits) {
        if (each.what == limit_kind::memory) EXPECT_EQ(each.most, 1000U);
        if (each.what == limit_kind::file_size || each.what == limit_kind::processes ||
            each.what == limit_kind::core_size || each.what == limit_kind::locked)
            EXPECT_EQ(each.most, 0U);
    }
    EXPECT_EQ(plan->limits.size(), 8U);
}

TEST(sandbox_plan, has_a_second_filter_that_allows_less) {
    const auto plan = plan_sandbox(good, machine_kind::aarch64, {});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->while_loading, filter_for(sandbox_stage::loading, machine_kind::aarch64));
    EXPECT_EQ(plan->while_running, filter_for(sandbox_stage::running, machine_kind::aarch64));
    EXPECT_LT(plan->while_running.size(), plan->while_loading.size());
}

}  // namespace
}  // namespace posthorn
