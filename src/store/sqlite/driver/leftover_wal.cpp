#include "store/sqlite/driver/leftover_wal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/driver/backup_files.hpp"
#include "store/sqlite/driver/log_file.hpp"

namespace posthorn::sqlite {
namespace {

// Of the log's format, https://sqlite.org/fileformat2.html#the_write_ahead_log
constexpr std::size_t log_header_size = 32;
constexpr std::size_t frame_header_size = 24;
constexpr std::size_t salts_size = 8;
constexpr std::size_t page_size_at = 8;
constexpr std::size_t log_salts_at = 16;
constexpr std::size_t frame_salts_at = 8;
constexpr std::size_t magic = 0x377f0682;  // The last bit says in which order the checksums are.
constexpr std::size_t page_size_min = 512;
constexpr std::size_t page_size_max = 65'536;

/// The database for us alone, by SQLite's own locks.
class sole_lock {
public:
    sole_lock(sqlite3_file& file, sqlite3_vfs& system) : file_(file) {
        // Others may look at it for a moment, or start too; one that stays does so for longer.
        constexpr int tries_max = 8;
        constexpr int pause_us = 1'000;
        for (int tries = 0; tries < tries_max && !held_; ++tries) {
            if (tries > 0) system.xSleep(&system, pause_us + (jitter() * 8));
            held_ = take();
            if (!held_) let_go();
        }
    }
    ~sole_lock() { let_go(); }
    sole_lock(const sole_lock&) = delete;
    sole_lock& operator=(const sole_lock&) = delete;

    [[nodiscard]] bool is_held() const { return held_; }

private:
    bool take() {
        return std::ranges::all_of(
            std::array{SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE},
            [this](int level) { return file_.pMethods->xLock(&file_, level) == SQLITE_OK; });
    }
    void let_go() { file_.pMethods->xUnlock(&file_, SQLITE_LOCK_NONE); }
    static int jitter() {
        unsigned char drawn = 0;
        sqlite3_randomness(1, &drawn);
        return drawn;
    }

    sqlite3_file& file_;
    bool held_ = false;
};

std::size_t number_at(std::span<const std::byte> header, std::size_t at) {
    std::size_t number = 0;
    for (const auto one : header.subspan(at, 4))
        number = number << 8U | std::to_integer<std::size_t>(one);
    return number;
}

/// Zero if it is not the header of a log.
std::size_t page_size_of(std::span<const std::byte> log_header) {
    const auto size = number_at(log_header, page_size_at);
    const bool is_log = (number_at(log_header, 0) & ~std::size_t{1}) == magic &&
                        std::has_single_bit(size) && size >= page_size_min && size <= page_size_max;
    return is_log ? size : 0;
}

/// The frames since the log began anew, synced; what lies behind them is of no use. SQLITE_DONE if
/// there are none.
int copy_frames(log_file& from, log_file& to) {
    std::array<std::byte, log_header_size> header{};
    int code = from.read(header, 0);
    const auto page_size = page_size_of(header);
    if (code == SQLITE_IOERR_SHORT_READ || (code == SQLITE_OK && page_size == 0))
        return SQLITE_DONE;
    if (code == SQLITE_OK) code = to.write(header, 0);
    const auto salts = std::span(header).subspan(log_salts_at, salts_size);
    std::vector<std::byte> frame(frame_header_size + page_size);
    for (auto at = header.size(); code == SQLITE_OK; at += frame.size()) {
        code = from.read(frame, at);
        if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) break;
        const auto its_salts = std::span(frame).subspan(frame_salts_at, salts_size);
        if (code == SQLITE_IOERR_SHORT_READ || !std::ranges::equal(its_salts, salts))
            return at == header.size() ? SQLITE_DONE : to.sync();
        code = to.write(frame, at);
    }
    return code;
}

bool is_there(sqlite3_vfs& system, const std::string& path) {
    int found = 0;
    return system.xAccess(&system, path.c_str(), SQLITE_ACCESS_EXISTS, &found) == SQLITE_OK &&
           found != 0;
}

/// The files beside an open database.
class surroundings {
public:
    explicit surroundings(connection& database) {
        ask(database, SQLITE_FCNTL_FILE_POINTER, &file);
        ask(database, SQLITE_FCNTL_VFS_POINTER, &system);
        log = sqlite3_filename_wal(sqlite3_db_filename(database.handle(), "main"));
        copy = std::string(log) + "-saved";
    }

    /// Whether the locks are those that all have, and a file can take another's name for good.
    [[nodiscard]] bool are_known() const {
        if (file == nullptr || file->pMethods == nullptr || system == nullptr) return false;
        if (control(rename_file_control, nullptr) == SQLITE_OK) return true;
        return std::string_view(system->zName) == "unix";
    }
    /// Another database has taken the place of this one, and the log is that one's.
    [[nodiscard]] bool have_moved() const {
        int moved = 0;
        return control(SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
    }
    [[nodiscard]] int make_copy() const {
        log_file from(*system, log, 0);
        if (from.opened() != SQLITE_OK) return from.opened();
        log_file to(*system, copy.c_str(), SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE);
        return to.opened() == SQLITE_OK ? copy_frames(from, to) : to.opened();
    }
    void remove_copy() const { system->xDelete(system, copy.c_str(), 0); }
    /// False if the copy is still there.
    [[nodiscard]] result<bool> take_name() const {
        file_names names{.from = copy.c_str(), .to = log};
        const int code = control(rename_file_control, &names);
        if (code == SQLITE_OK) return true;
        if (code != SQLITE_NOTFOUND) return false;
        struct stat before{};
        if (::stat(log, &before) != 0 || !folder_can_be_synced()) return false;
        // If not, it has the group that SQLite would give to a new one.
        std::ignore = ::chown(copy.c_str(), static_cast<uid_t>(-1), before.st_gid);
        if (std::rename(copy.c_str(), log) != 0) return false;
        POSTHORN_TRY(sync_folder_of(log));
        return true;
    }

    sqlite3_file* file = nullptr;
    sqlite3_vfs* system = nullptr;
    const char* log = nullptr;
    std::string copy;

private:
    static void ask(connection& database, int what, void* into) {
        sqlite3_file_control(database.handle(), "main", what, into);
    }
    int control(int what, void* with) const {
        return file->pMethods->xFileControl(file, what, with);
    }
    [[nodiscard]] bool folder_can_be_synced() const {
        const auto folder = std::filesystem::path(log).parent_path();
        return ::access(folder.c_str(), R_OK) == 0;
    }
};

}  // namespace

result<leftover_wal> save_left_log(connection& database) {
    const surroundings around(database);
    if (!around.are_known()) return leftover_wal::none;
    if (!is_there(*around.system, around.log) && !is_there(*around.system, around.copy))
        return leftover_wal::none;
    const sole_lock lock(*around.file, *around.system);
    if (!lock.is_held() || around.have_moved()) return leftover_wal::in_use;
    // Of a start that did not get to its end, and maybe another name of the log itself: not all
    // file systems rename in one step.
    around.remove_copy();
    if (!is_there(*around.system, around.log)) return leftover_wal::none;

    const int code = around.make_copy();
    if (code == SQLITE_OK) {
        POSTHORN_LET(renamed, around.take_name());
        if (renamed) return leftover_wal::saved;
    }
    around.remove_copy();
    if (code == SQLITE_DONE) return leftover_wal::none;
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC)
        return fail(error_code::io_failed,
                    "the disk cannot save the log '{}' that was left; look at the disk, then start "
                    "again: nothing was changed",
                    around.log);
    return leftover_wal::kept;
}

}  // namespace posthorn::sqlite
