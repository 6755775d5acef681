#include "store/sqlite/driver/backup_files.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posthorn::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".db";

std::unexpected<error> failed(std::string_view doing, const fs::path& file, int why = errno) {
    const auto code =
        why == ENOSPC || why == EDQUOT ? error_code::store_full : error_code::io_failed;
    return fail(code, "cannot {} {}: {}", doing, file.string(),
                std::generic_category().message(why));
}

bool is_same_file(int descriptor, const fs::path& path) {
    struct stat opened{};
    struct stat named{};
    return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// Only root may give a file away; any other user owns it anyway.
result<> resemble(int descriptor, const fs::path& made, const fs::path& like, unsigned mode_max) {
    struct stat model{};
    if (::stat(like.c_str(), &model) != 0) return {};
    if (::fchown(descriptor, model.st_uid, model.st_gid) != 0 && ::geteuid() == 0)
        return failed("keep the owner of", made);
    if (::fchmod(descriptor, model.st_mode & mode_max) != 0)
        return failed("keep the mode of", made);
    return {};
}

// Left by a process that was killed; they would be taken for those of the new file.
void remove_logs_of(const fs::path& file) {
    for (const auto* const beside : {"-wal", "-shm", "-journal"})
        ::unlink((file.string() + beside).c_str());
}

}  // namespace

std::string to_name_part(wall_time time) {
    auto text = to_iso8601(time).substr(0, 19);  // 2026-02-14T12:00:00
    std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
    return text + "Z";
}

std::string backup_name(const fs::path& database, wall_time taken_at) {
    return fmt::format("{}-{}{}", database.stem().string(), to_name_part(taken_at), ending);
}

std::optional<wall_time> parse_backup_name(std::string_view name, const fs::path& database) {
    const auto stem = database.stem().string() + "-";
    constexpr std::string_view form = "20260214T120000Z";
    if (name.size() != stem.size() + form.size() + ending.size() || !name.starts_with(stem) ||
        !name.ends_with(ending))
        return std::nullopt;
    const auto at = name.substr(stem.size(), form.size());
    return parse_iso8601(fmt::format("{}-{}-{}:{}:{}", at.substr(0, 4), at.substr(4, 2),
                                     at.substr(6, 5), at.substr(11, 2), at.substr(13)));
}

result<std::vector<backup_file>> list_backups(const fs::path& folder, const fs::path& database) {
    std::vector<backup_file> found;
    std::error_code failure;
    for (fs::directory_iterator each(folder, failure), end; !failure && each != end;
         each.increment(failure)) {
        const auto taken_at = parse_backup_name(each->path().filename().string(), database);
        std::error_code gone;
        const auto bytes = each->file_size(gone);
        if (taken_at && !gone) found.push_back({each->path(), *taken_at, bytes});
    }
    if (failure && failure != std::errc::no_such_file_or_directory)
        return failed("look through", folder, failure.value());
    std::ranges::sort(found, {}, &backup_file::taken_at);
    return found;
}

std::vector<backup_file> outdated_backups(std::vector<backup_file> all, wall_time now,
                                          std::chrono::milliseconds keep) {
    if (!all.empty()) all.pop_back();
    std::erase_if(all, [&](const backup_file& one) { return one.taken_at + keep > now; });
    return all;
}

std::chrono::milliseconds backup_delay(std::optional<wall_time> newest, wall_time now,
                                       std::chrono::milliseconds every) {
    if (!newest) return {};
    if (*newest > now) return every;
    return std::max(*newest + every - now, std::chrono::milliseconds{});
}

result<new_file> new_file::make(fs::path temporary, const fs::path& like, unsigned mode_max) {
    constexpr int tries_max = 100;
    for (int tries = 0; tries < tries_max; ++tries) {
        const int opened = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (opened < 0) return failed("write", temporary);
        if (::flock(opened, LOCK_EX | LOCK_NB) != 0) {
            ::close(opened);
            return fail(error_code::store_busy,
                        "another process is writing {}; wait until it has ended",
                        temporary.string());
        }
        // The lock's last holder may have given the file its name meanwhile.
        if (!is_same_file(opened, temporary)) {
            ::close(opened);
            continue;
        }
        new_file made(std::move(temporary), opened);
        remove_logs_of(made.path_);
        if (::ftruncate(opened, 0) != 0) return failed("write", made.path_);
        POSTHORN_TRY(resemble(opened, made.path_, like, mode_max));
        return made;
    }
    return fail(error_code::store_busy, "{} keeps changing; try again", temporary.string());
}

new_file::new_file(new_file&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

new_file::~new_file() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str());
    remove_logs_of(path_);
    ::close(descriptor_);
}

result<> new_file::copy_from(const fs::path& other) {
    const int from = ::open(other.c_str(), O_RDONLY | O_CLOEXEC);
    if (from < 0) return failed("read", other);
    constexpr std::size_t bytes_at_once = std::size_t{16} << 20;
    ssize_t copied = 1;
    while (copied > 0) copied = ::sendfile(descriptor_, from, nullptr, bytes_at_once);
    const int why = errno;
    ::close(from);
    if (copied < 0) return failed("copy to", path_, why);
    return {};
}

result<> new_file::sync() {
    if (::fsync(descriptor_) != 0) return failed("sync", path_);
    return {};
}

result<> new_file::keep_as(const fs::path& name, if_there there) {
    POSTHORN_TRY(sync());
    const unsigned flags = there == if_there::refuse ? RENAME_NOREPLACE : 0U;
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), flags) != 0) {
        if (errno == EEXIST)
            return fail(error_code::invalid_argument,
                        "{} is there already and stays as it is; choose another name",
                        name.string());
        return failed("name", name);
    }
    ::close(std::exchange(descriptor_, -1));
    return sync_folder_of(name);
}

result<> sync_folder_of(const fs::path& file) {
    const auto parent = file.parent_path();
    const fs::path folder = parent.empty() ? "." : parent;
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return failed("open", folder);
    const int synced = ::fsync(opened);
    const int why = errno;
    ::close(opened);
    if (synced != 0) return failed("sync", folder, why);
    return {};
}

}  // namespace posthorn::sqlite
