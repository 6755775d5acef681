#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sqlite3.h>

namespace posthorn::sqlite {

/// A file beside the database, as SQLite would open it.
class log_file {
public:
    log_file(sqlite3_vfs& system, const char* path, int flags)
        : room_((static_cast<std::size_t>(system.szOsFile) / sizeof(std::max_align_t)) + 1) {
        opened_ = system.xOpen(&system, path, &file(),
                               SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE | flags, nullptr);
    }
    ~log_file() {
        if (file().pMethods != nullptr) file().pMethods->xClose(&file());
    }
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;

    [[nodiscard]] int opened() const { return opened_; }
    int read(std::span<std::byte> into, std::size_t at) {
        return file().pMethods->xRead(&file(), into.data(), static_cast<int>(into.size()),
                                      static_cast<sqlite3_int64>(at));
    }
    int write(std::span<const std::byte> bytes, std::size_t at) {
        return file().pMethods->xWrite(&file(), bytes.data(), static_cast<int>(bytes.size()),
                                       static_cast<sqlite3_int64>(at));
    }
    int measure(std::uint64_t& size) {
        sqlite3_int64 found = 0;
        const int code = file().pMethods->xFileSize(&file(), &found);
        size = static_cast<std::uint64_t>(found);
        return code;
    }
    int sync() { return file().pMethods->xSync(&file(), SQLITE_SYNC_NORMAL); }

private:
    sqlite3_file& file() { return *reinterpret_cast<sqlite3_file*>(room_.data()); }

    std::vector<std::max_align_t> room_;
    int opened_ = SQLITE_OK;
};

}  // namespace posthorn::sqlite
