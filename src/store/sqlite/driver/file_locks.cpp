#include "store/sqlite/driver/file_locks.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace posthorn::sqlite {
namespace {

struct byte_range {
    off_t first;
    off_t count;
};

// Where SQLite puts its locks: part of its file format, since all versions have to agree on it.
constexpr byte_range database_locks{0x40000000, 512};  // Pending, reserved and shared.
constexpr byte_range checkpoint_lock{121, 1};          // In the WAL's index.

struct flock lock_on(byte_range range) {
    struct flock lock{};
    lock.l_type = F_WRLCK;  // In the way of every lock there is.
    lock.l_whence = SEEK_SET;
    lock.l_start = range.first;
    lock.l_len = range.count;
    return lock;
}

std::optional<lock_holder> holder_of(const std::string& file, byte_range range) {
    const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0) return std::nullopt;
    struct flock lock = lock_on(range);
    const int asked = ::fcntl(opened, F_GETLK, &lock);
    ::close(opened);
    if (asked != 0 || lock.l_type == F_UNLCK) return std::nullopt;
    return lock_holder{std::max<pid_t>(lock.l_pid, 0)};
}

}  // namespace

std::optional<lock_holder> who_has_open(const std::string& database) {
    return holder_of(database, database_locks);
}

std::optional<lock_holder> who_holds_checkpoints(const std::string& database) {
    return holder_of(database + "-shm", checkpoint_lock);
}

std::string describe_holder(const lock_holder& holder) {
    if (holder.process == 0) return "a process of another container or machine";
    std::ifstream file(fmt::format("/proc/{}/comm", holder.process));
    std::string name;
    std::getline(file, name);
    return fmt::format("{} (process {})", name.empty() ? "a program" : name, holder.process);
}

result<sole_use> sole_use::take(const std::string& database) {
    const int opened = ::open(database.c_str(), O_RDWR | O_CLOEXEC);
    if (opened < 0 && errno == ENOENT) return sole_use(-1);
    if (opened < 0)
        return fail(error_code::io_failed, "cannot open {}: {}", database,
                    std::generic_category().message(errno));
    sole_use held(opened);
    struct flock lock = lock_on(database_locks);
    // A lock of the descriptor, not of the process, so that SQLite in this process respects it too.
    if (::fcntl(opened, F_OFD_SETLK, &lock) == 0) return held;
    lock = lock_on(database_locks);
    std::string who = "another process";
    if (::fcntl(opened, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        who = describe_holder({std::max<pid_t>(lock.l_pid, 0)});
    return fail(error_code::store_busy,
                "{} has {} open; stop the node, and everything else that uses the database", who,
                database);
}

sole_use::~sole_use() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

sole_use::sole_use(sole_use&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace posthorn::sqlite
