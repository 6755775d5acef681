// The numbers of x86_64, wherever this is compiled.
#include <algorithm>
#include <array>
#include <utility>

#include <asm/unistd_64.h>

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
