#include "sandbox/attack.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace posthorn::attack {
namespace {

constexpr int binary_fd = 4;
constexpr int answers_fd = 5;
// Where the test looks afterwards.
constexpr const char* mark = "/tmp/posthorn-attack-mark";
constexpr std::size_t page = 4096;

long call(long number, auto... arguments) { return ::syscall(number, arguments...); }

alignas(page) std::array<std::uint8_t, 2 * page> own_data{};

long open_as(const char* path, int flags) { return call(SYS_openat, AT_FDCWD, path, flags, 0600); }

long read_others() {
    std::array<char, 16> into{};
    const iovec here{into.data(), into.size()};
    const iovec there{own_data.data(), 16};
    return call(SYS_process_vm_readv, ::getppid(), &here, 1UL, &there, 1UL, 0UL);
}
long write_self() {
    std::array<char, 16> from{};
    const iovec here{from.data(), from.size()};
    const iovec there{own_data.data(), 16};
    return call(SYS_process_vm_writev, ::getpid(), &here, 1UL, &there, 1UL, 0UL);
}
long fork_by(unsigned long flags) {
    const auto child = call(SYS_clone, flags, 0UL, 0UL, 0UL, 0UL);
    if (child == 0) ::_exit(0);
    return child;
}
long fork_anew() {
    std::array<std::uint64_t, 11> arguments{};
    arguments[4] = SIGCHLD;
    const auto child = call(SYS_clone3, arguments.data(), sizeof arguments);
    if (child == 0) ::_exit(0);
    return child;
}
long run_shell() {
    const std::array<const char*, 4> arguments{"sh", "-c", "touch /tmp/posthorn-attack-mark",
                                               nullptr};
    return call(SYS_execve, "/bin/sh", arguments.data(), nullptr);
}
long run_own_binary() {
    const std::array<const char*, 2> arguments{"x", nullptr};
    return call(SYS_execveat, binary_fd, "", arguments.data(), nullptr, 0x1000);
}
long raise_memory() {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    return call(SYS_prlimit64, 0, RLIMIT_AS, &all, nullptr);
}
long limit_engine() {
    const rlimit none{0, 0};
    return call(SYS_prlimit64, ::getppid(), RLIMIT_NOFILE, &none, nullptr);
}
long allow_all() {
    sock_filter all{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    const sock_fprog given{1, &all};
    // It cannot widen what is allowed; while it runs it may not even try.
    return call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &given);
}
long handle_signals() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    return call(SYS_rt_sigaction, SIGXCPU, &ignore, nullptr, 8UL);
}
long map(int protection, int flags, int file) {
    const auto got = call(SYS_mmap, nullptr, page, protection, flags, file, 0L);
    return got < 0 ? got : 0;
}
long message_with_file() {
    std::array<std::uint64_t, 7> empty{};
    return call(SYS_sendmsg, answers_fd, empty.data(), 0);
}

struct known_attempt {
    std::string_view name{};
    long (*make)();
    bool is_let_while_loading = false;  // What the loader itself needs.
};

constexpr std::array attempts{
    known_attempt{"read a file", [] { return open_as("/etc/passwd", O_RDONLY); }},
    known_attempt{"read a folder", [] { return open_as("/", O_RDONLY | O_DIRECTORY); }},
    known_attempt{"name a path", [] { return open_as("/", O_PATH); }},
    known_attempt{"make a file", [] { return open_as(mark, O_WRONLY | O_CREAT); }},
    known_attempt{"make a nameless file", [] { return open_as("/tmp", O_RDWR | O_TMPFILE); }},
    known_attempt{"write its memory", [] { return open_as("/proc/self/mem", O_RDWR); }},
    known_attempt{"read its maps", [] { return open_as("/proc/self/maps", O_RDONLY); }},
    known_attempt{"open a device", [] { return open_as("/dev/null", O_WRONLY); }},
    known_attempt{"open by handle", [] { return call(SYS_open_by_handle_at, 3, nullptr, 0); }},
    known_attempt{"openat2",
                  [] {
                      std::array<std::uint64_t, 3> how{};
                      return call(SYS_openat2, AT_FDCWD, "/etc/passwd", how.data(), sizeof how);
                  }},
    known_attempt{"unlink", [] { return call(SYS_unlinkat, AT_FDCWD, mark, 0); }},
    known_attempt{"mkdir", [] { return call(SYS_mkdirat, AT_FDCWD, mark, 0700); }},
    known_attempt{"rename", [] { return call(SYS_renameat2, AT_FDCWD, mark, AT_FDCWD, "/x", 0); }},
    known_attempt{"symlink", [] { return call(SYS_symlinkat, "/", AT_FDCWD, mark); }},
    known_attempt{"mknod", [] { return call(SYS_mknodat, AT_FDCWD, mark, S_IFIFO | 0600, 0); }},
    known_attempt{"chmod", [] { return call(SYS_fchmodat, AT_FDCWD, mark, 0777); }},
    known_attempt{"truncate", [] { return call(SYS_truncate, mark, 0L); }},
    known_attempt{
        "readlink",
        [] { return call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", own_data.data(), 100UL); }},
    known_attempt{"write its binary", [] { return call(SYS_write, binary_fd, "x", 1UL); }},
    known_attempt{"cut its binary", [] { return call(SYS_ftruncate, binary_fd, 0L); }},
    known_attempt{"change a pipe",
                  [] { return call(SYS_fcntl, answers_fd, F_SETPIPE_SZ, 1 << 20); }},
    known_attempt{"double a pipe", [] { return call(SYS_dup, answers_fd); }},
    known_attempt{"internet", [] { return call(SYS_socket, 2, 1, 0); }},
    known_attempt{"datagrams", [] { return call(SYS_socket, 2, 2, 0); }},
    known_attempt{"internet 6", [] { return call(SYS_socket, 10, 1, 0); }},
    known_attempt{"unix sockets", [] { return call(SYS_socket, 1, 1, 0); }},
    known_attempt{"netlink", [] { return call(SYS_socket, 16, 3, 0); }},
    known_attempt{"vsock", [] { return call(SYS_socket, 40, 1, 0); }},
    known_attempt{"a pair of sockets",
                  [] { return call(SYS_socketpair, 1, 1, 0, own_data.data()); }},
    known_attempt{"send a file", &message_with_file},
    known_attempt{"fork", [] { return fork_by(SIGCHLD); }},
    known_attempt{"vfork", [] { return fork_by(SIGCHLD | CLONE_VM | CLONE_VFORK); }},
    known_attempt{"a new namespace", [] { return fork_by(SIGCHLD | CLONE_NEWUSER); }},
    known_attempt{"clone3", &fork_anew},
    known_attempt{"exec", &run_shell},
    known_attempt{"exec itself", &run_own_binary},
    known_attempt{"ptrace me", [] { return call(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0); }},
    known_attempt{"ptrace the engine",
                  [] { return call(SYS_ptrace, PTRACE_SEIZE, ::getppid(), 0, 0); }},
    known_attempt{"read the engine", &read_others},
    known_attempt{"write itself", &write_self},
    known_attempt{"kill the engine", [] { return call(SYS_kill, ::getppid(), SIGTERM); }},
    known_attempt{"kill all", [] { return call(SYS_kill, -1, SIGCONT); }},
    known_attempt{"kill a thread",
                  [] { return call(SYS_tgkill, ::getppid(), ::getppid(), SIGCONT); }},
    known_attempt{"queue a signal",
                  [] { return call(SYS_rt_sigqueueinfo, ::getppid(), SIGCONT, own_data.data()); }},
    known_attempt{"a handle of the engine", [] { return call(SYS_pidfd_open, ::getppid(), 0); }},
    known_attempt{
        "memory to write and run",
        [] { return map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1); }},
    known_attempt{"memory to run",
                  [] { return map(PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1); }},
    known_attempt{"its binary to run",
                  [] { return map(PROT_READ | PROT_EXEC, MAP_PRIVATE, binary_fd); }, true},
    known_attempt{"its binary to write and run",
                  [] { return map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, binary_fd); }},
    known_attempt{"data to run",
                  [] { return call(SYS_mprotect, own_data.data(), page, PROT_READ | PROT_EXEC); }},
    known_attempt{
        "data to run by a key",
        [] { return call(SYS_pkey_mprotect, own_data.data(), page, PROT_READ | PROT_EXEC, -1); }},
    known_attempt{"all that is read to run", [] { return call(SYS_personality, 0x0400000UL); }},
    known_attempt{"a file in memory", [] { return call(SYS_memfd_create, "x", 0); }},
    known_attempt{"shared memory", [] { return call(SYS_shmget, 0, page, 01600); }},
    known_attempt{"io_uring", [] { return call(SYS_io_uring_setup, 1, own_data.data()); }},
    known_attempt{"bpf", [] { return call(SYS_bpf, 0, own_data.data(), 16); }},
    known_attempt{"userfaultfd", [] { return call(SYS_userfaultfd, 0); }},
    known_attempt{"perf",
                  [] { return call(SYS_perf_event_open, own_data.data(), 0, -1, -1, 0UL); }},
    known_attempt{"keys", [] { return call(SYS_keyctl, 0, 0, 0, 0, 0); }},
    known_attempt{"new rights", [] { return call(SYS_setuid, 0); }},
    known_attempt{"capabilities",
                  [] { return call(SYS_capset, own_data.data(), own_data.data()); }},
    known_attempt{"outlive its engine",
                  [] { return call(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0); }},
    known_attempt{"be dumped", [] { return call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0); }},
    known_attempt{"more memory", &raise_memory},
    known_attempt{"limits of the engine", &limit_engine},
    known_attempt{"another filter", &allow_all, true},
    known_attempt{"more rules", [] { return call(444, nullptr, 0UL, 1U); }},
    known_attempt{"unshare", [] { return call(SYS_unshare, CLONE_NEWUSER); }},
    known_attempt{"mount", [] { return call(SYS_mount, "none", "/mnt", "tmpfs", 0UL, nullptr); }},
    known_attempt{"chroot", [] { return call(SYS_chroot, "/tmp"); }},
    known_attempt{"a handler of signals", &handle_signals},
    known_attempt{"a timer", [] { return call(SYS_timer_create, 1, nullptr, own_data.data()); }},
    known_attempt{"sleep",
                  [] { return call(SYS_clock_nanosleep, 1, 0, own_data.data(), nullptr); }},
    known_attempt{"chance", [] { return call(SYS_getrandom, own_data.data(), 8UL, 0U); }},
    known_attempt{"what machine", [] { return call(SYS_uname, own_data.data()); }},
    known_attempt{"terminals", [] { return call(SYS_ioctl, 0, 0x5412, own_data.data()); }},
    known_attempt{"another call", [] { return call(511); }},
};

/// Takes memory until there is no more, and says how much.
std::string take_memory() {
    std::size_t taken = 0;
    constexpr std::size_t piece = 1UL << 20U;
    for (; taken < (1UL << 36U); taken += piece) {
        auto* const got =
            ::mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) break;
        std::memset(got, 1, piece);
    }
    return std::to_string(taken);
}

[[gnu::noinline]] int fall_down(int deeper) {
    std::array<char, 4096> space{};
    volatile char* const used = space.data();
    used[0] = static_cast<char>(deeper);
    return used[0] == 1 && deeper == 0 ? 0 : fall_down(deeper + 1) + used[0];
}

void answer_past_the_protocol(std::string_view bytes) {
    static_cast<void>(!::write(answers_fd, bytes.data(), bytes.size()));
}

}  // namespace

std::string attempt(std::string_view what) {
    for (const auto& each : attempts) {
        if (each.name != what) continue;
        errno = 0;
        if (each.make() >= 0) return "done";
        return "refused " + std::to_string(errno);
    }
    if (what == "memory") return take_memory();
    if (what == "spin")
        for (volatile bool is_on = true; is_on;) {
        }
    if (what == "crash") ::raise(SIGSEGV), __builtin_trap();
    if (what == "stack") return std::to_string(fall_down(0));
    if (what == "leave") ::_exit(0);
    if (what == "silence") ::close(answers_fd), ::syscall(SYS_exit_group, 7);
    if (what == "garbage") answer_past_the_protocol("this is no frame at all");
    if (what == "huge")
        answer_past_the_protocol(std::string_view("PhWf\1\0\4\0\xff\xff\xff\xff", 12));
    if (what == "another frame")
        answer_past_the_protocol(std::string_view("PhWf\1\0\1\0\0\0\0\0", 12));
    if (what == "a long refusal")
        answer_past_the_protocol(std::string_view("PhWf\1\0\2\0\xff\xff\xff\0", 12));
#if defined(__x86_64__)
    if (what == "32 bits") {
        long result = 20;  // getpid, as it is numbered there.
        asm volatile("int $0x80" : "+a"(result) : : "memory");
        return "done";
    }
    if (what == "x32") return call(0x40000000 | SYS_getpid) < 0 ? "refused" : "done";
#endif
    return "unknown";
}

std::string names() {
    std::string all;
    for (const auto& each : attempts) {
        all += each.is_let_while_loading ? '+' : '-';
        all.append(each.name) += '\n';
    }
    return all;
}

}  // namespace posthorn::attack
