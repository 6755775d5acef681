#include "store/sqlite/driver/memory_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr auto name_prefix = "posthorn-memory-";
constexpr auto lock_name = "in-use";

/// Where files are in memory; else where temporary ones are.
fs::path place() {
    fs::path shared_memory = "/dev/shm";
    if (::access(shared_memory.c_str(), W_OK | X_OK) == 0) return shared_memory;
    std::error_code none;
    const auto temporary = fs::temp_directory_path(none);
    return none ? fs::path("/tmp") : temporary;
}

/// The open file if no other process holds it, else -1.
int lock(const fs::path& file, int flags) {
    const int opened = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (opened < 0) return -1;
    if (::flock(opened, LOCK_EX | LOCK_NB) == 0) return opened;
    ::close(opened);
    return -1;
}

// A lock goes with its process, so what can be locked belongs to no process. One that has no lock
// yet is being made.
void remove_abandoned(const fs::path& where) {
    std::error_code unusable;
    for (const auto& each : fs::directory_iterator(where, unusable)) {
        if (!each.path().filename().string().starts_with(name_prefix)) continue;
        const int held = lock(each.path() / lock_name, 0);
        if (held < 0) continue;
        std::error_code ignored;
        fs::remove_all(each.path(), ignored);
        ::close(held);
    }
}

}  // namespace

result<std::unique_ptr<memory_file>> memory_file::make() {
    const auto where = place();
    remove_abandoned(where);
    std::string folder = where / (std::string(name_prefix) + "XXXXXX");
    const auto failed = [&] {
        return fail(error_code::store_unavailable,
                    "a store in memory needs a folder below {}, which cannot be made: {}",
                    where.string(), std::generic_category().message(errno));
    };
    if (::mkdtemp(folder.data()) == nullptr) return failed();  // With mode 0700.
    const int held = lock(fs::path(folder) / lock_name, O_CREAT);
    if (held < 0) return failed();
    return std::unique_ptr<memory_file>(new memory_file(std::move(folder), held));
}

memory_file::memory_file(std::string folder, int lock)
    : folder_(std::move(folder)), path_(fs::path(folder_) / "memory.db"), lock_(lock) {}

memory_file::~memory_file() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    ::close(lock_);
}

}  // namespace posthorn::sqlite
