#include "store/sqlite/upkeep/watched_files.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace posthorn::sqlite {

watched_files::watched_files(const std::string& given, const std::string& opened, logger& log)
    : log_(log) {
    std::error_code unusable;
    const auto absolute = std::filesystem::absolute(given, unusable).string();
    for (const auto& path : {unusable ? given : absolute, opened + "-wal", opened + "-shm"})
        if (const auto found = identity_of(path)) files_.push_back({path, *found});
}

std::expected<watched_files::identity, int> watched_files::identity_of(const std::string& path) {
    struct stat seen{};
    if (::stat(path.c_str(), &seen) != 0) return std::unexpected(errno);
    return identity{seen.st_dev, seen.st_ino};
}

// What cannot be looked at, say for want of a right, is not known to have changed.
watched_files::state watched_files::state_of(const file& one) {
    const auto now = identity_of(one.path);
    if (now) return *now == one.opened ? state::same : state::replaced;
    return now.error() == ENOENT || now.error() == ENOTDIR ? state::gone : state::same;
}

std::string watched_files::find_loss() const {
    for (const auto& one : files_) {
        const auto now = state_of(one);
        if (now == state::same) continue;
        return fmt::format(
            "{} was {} while the node has it open: other programs and the node do not see each "
            "other's commits any more, and some will be lost; stop the node and every program that "
            "uses the database, see that the right files are there or restore a backup, and start "
            "again",
            one.path, now == state::gone ? "deleted" : "replaced");
    }
    return {};
}

void watched_files::look() {
    auto found = find_loss();
    const std::scoped_lock lock(mutex_);
    if (found == loss_) return;
    if (found.empty())
        log_.info("Store: the files of the database are those that the node has open again");
    else
        log_.error("Store: {Reason}", {{"Reason", found}});
    loss_ = std::move(found);
}

std::string watched_files::loss() const {
    const std::scoped_lock lock(mutex_);
    return loss_;
}

}  // namespace posthorn::sqlite
