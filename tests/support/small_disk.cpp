#include "support/small_disk.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace posthorn::test {
namespace {

// Nobody else sees the mounts. Root may do so; others may in a user namespace, where that is
// allowed.
bool leave_the_mounts_of_others() {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

small_disk::small_disk(std::uint64_t bytes) {
    const auto size = "size=" + std::to_string(bytes);
    mounted_ = leave_the_mounts_of_others() &&
               ::mount("tmpfs", place_.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
}

small_disk::~small_disk() {
    if (mounted_) ::umount2(place_.path().c_str(), MNT_DETACH);
}

void small_disk::fill_up_to(std::uint64_t bytes_left) {
    const int filler = ::open(file("filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    // Whoever works on the disk may take some of it between the look and the taking, and then
    // nothing is taken.
    for (int refused = ENOSPC; refused == ENOSPC;) {
        struct statvfs seen{};
        ::statvfs(place_.path().c_str(), &seen);
        const auto free = std::uint64_t{seen.f_bavail} * seen.f_frsize;
        const auto had = ::lseek(filler, 0, SEEK_END);
        refused = free <= bytes_left
                      ? 0
                      : ::posix_fallocate(filler, had, static_cast<off_t>(free - bytes_left));
    }
    ::close(filler);
}

void small_disk::empty() { ::unlink(file("filler").c_str()); }

}  // namespace posthorn::test
