// The numbers of x86_64.
#include <algorithm>
#include <array>
#include <utility>

#if defined(__x86_64__)
#include <asm/unistd_64.h>
#else  // As they stand there: other machines have not that header.
#define __NR_read 0
#define __NR_write 1
#define __NR_futex 202
#define __NR_brk 12
#define __NR_mmap 9
#define __NR_munmap 11
#define __NR_mremap 25
#define __NR_madvise 28
#define __NR_mprotect 10
#define __NR_exit 60
#define __NR_exit_group 231
#define __NR_openat 257
#define __NR_close 3
#define __NR_pread64 17
#define __NR_fstat 5
#define __NR_newfstatat 262
#define __NR_seccomp 317
#define __NR_execve 59
#define __NR_execveat 322
#define __NR_clone 56
#define __NR_clone3 435
#define __NR_socket 41
#define __NR_connect 42
#define __NR_ptrace 101
#define __NR_kill 62
#define __NR_fork 57
#endif

#include "unit/workflow/runner/kernel_numbers.hpp"

namespace posthorn::test {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 26> numbers{{
    {"read", __NR_read},
    {"write", __NR_write},
    {"futex", __NR_futex},
    {"brk", __NR_brk},
    {"mmap", __NR_mmap},
    {"munmap", __NR_munmap},
    {"mremap", __NR_mremap},
    {"madvise", __NR_madvise},
    {"mprotect", __NR_mprotect},
    {"exit", __NR_exit},
    {"exit_group", __NR_exit_group},
    {"openat", __NR_openat},
    {"close", __NR_close},
    {"pread64", __NR_pread64},
    {"fstat", __NR_fstat},
    {"newfstatat", __NR_newfstatat},
    {"seccomp", __NR_seccomp},
    {"execve", __NR_execve},
    {"execveat", __NR_execveat},
    {"clone", __NR_clone},
    {"clone3", __NR_clone3},
    {"socket", __NR_socket},
    {"connect", __NR_connect},
    {"ptrace", __NR_ptrace},
    {"kill", __NR_kill},
    {"fork", __NR_fork},
}};

}  // namespace

std::optional<std::uint32_t> number_on_x86_64(std::string_view name) {
    const auto found = std::ranges::find(numbers, name, [](const auto& one) { return one.first; });
    if (found == numbers.end()) return {};
    return found->second;
}

}  // namespace posthorn::test
