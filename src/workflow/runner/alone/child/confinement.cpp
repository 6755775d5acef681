#include "workflow/runner/alone/child/confinement.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workflow/runner/alone/child/own_pipes.hpp"

namespace posthorn::runner_child {
namespace {

static_assert(sizeof(filter_instruction) == sizeof(sock_filter));
static_assert(filter_code::load == (BPF_LD | BPF_W | BPF_ABS));
static_assert(filter_code::jump_if_equal == (BPF_JMP | BPF_JEQ | BPF_K));
static_assert(filter_code::jump_if_at_least == (BPF_JMP | BPF_JGE | BPF_K));
static_assert(filter_code::jump_if_any_bit == (BPF_JMP | BPF_JSET | BPF_K));
static_assert(filter_code::give == (BPF_RET | BPF_K));
static_assert(filter_code::allow == SECCOMP_RET_ALLOW);
static_assert(filter_code::deny == (SECCOMP_RET_ERRNO | EPERM));
static_assert(filter_code::kill_process == SECCOMP_RET_KILL_PROCESS);

// Of Landlock; Debian's headers are older than the kernels that it runs on.
constexpr long landlock_create_ruleset = 444;
constexpr long landlock_restrict_self = 446;
constexpr unsigned ask_for_version = 1;
struct landlock_attributes {
    std::uint64_t files;
    std::uint64_t network;
    std::uint64_t scoped;
};

std::unexpected<error> failed_at(std::string_view what) {
    return fail(error_code::io_failed, "the runner could not {}: {}", what, std::strerror(errno));
}

bool has_answer(std::uint32_t answer) {
    return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &answer) == 0;
}

bool is_sealed(int file) {
    constexpr int all = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    return (::fcntl(file, F_GET_SEALS) & all) == all;
}

int number_of(limit_kind what) {
    switch (what) {
        case limit_kind::memory: return RLIMIT_AS;
        case limit_kind::file_size: return RLIMIT_FSIZE;
        case limit_kind::open_files: return RLIMIT_NOFILE;
        case limit_kind::processes: return RLIMIT_NPROC;
        case limit_kind::core_size: return RLIMIT_CORE;
        case limit_kind::stack: return RLIMIT_STACK;
        case limit_kind::locked: return RLIMIT_MEMLOCK;
        case limit_kind::queues: break;
    }
    return RLIMIT_MSGQUEUE;
}

result<> filter(const std::vector<filter_instruction>& program) {
    std::vector<sock_filter> instructions(program.size());
    std::memcpy(instructions.data(), program.data(), program.size() * sizeof(sock_filter));
    const sock_fprog given{.len = static_cast<unsigned short>(instructions.size()),
                           .filter = instructions.data()};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &given) != 0)
        return failed_at("install a filter of seccomp");
    return {};
}

result<> hold_files(const landlock_plan& plan) {
    const landlock_attributes held{plan.files, plan.network, plan.scoped};
    const auto rules = ::syscall(landlock_create_ruleset, &held, plan.bytes, 0U);
    if (rules < 0) return failed_at("make rules of Landlock");
    const auto refused = ::syscall(landlock_restrict_self, rules, 0U);
    ::close(static_cast<int>(rules));
    if (refused != 0) return failed_at("take on rules of Landlock");
    return {};
}

}  // namespace

kernel_facts ask_kernel() {
    return {
        .landlock_version = static_cast<int>(
            ::syscall(landlock_create_ruleset, nullptr, std::size_t{0}, ask_for_version)),
        .has_filters = has_answer(SECCOMP_RET_ALLOW),
        .can_deny = has_answer(SECCOMP_RET_ERRNO),
        .can_end_process = has_answer(SECCOMP_RET_KILL_PROCESS),
        .can_seal = is_sealed(binary_fd),
    };
}

result<> tie_to_engine(int engine_process) {
    if (::close_range(answers_fd + 1, ~0U, 0) != 0) return failed_at("close what it has too much");
    // Errors, not signals, for what must not be written and for an engine that is gone.
    ::signal(SIGXFSZ, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return failed_at("tie itself to its engine");
    if (::getppid() != engine_process)
        return fail(error_code::closed, "the engine that started this runner is gone");
    return {};
}

result<> confine(const sandbox_plan& plan) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed_at("give up new rights");
    for (const auto& each : plan.limits) {
        const rlimit most{each.most, each.most};
        if (::setrlimit(static_cast<__rlimit_resource>(number_of(each.what)), &most) != 0)
            return failed_at("set a limit");
    }
    POSTHORN_TRY(hold_files(plan.landlock));
    return filter(plan.while_loading);
}

result<> confine_further(const sandbox_plan& plan) { return filter(plan.while_running); }

}  // namespace posthorn::runner_child
