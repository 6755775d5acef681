#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "support/fault_disk/fault_disk.hpp"

namespace posthorn {

/// A bare SQLite connection to a file on the fault disk. No wrapper of Posthorn's own is between,
/// for these tests ask what the disk does.
class plain_database {
public:
    plain_database(const fault_disk& disk, const std::string& path)
        : plain_database(disk.vfs_name(), path) {}
    plain_database(const char* vfs, const std::string& path) {
        sqlite3* raw = nullptr;
        status_ =
            sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
        handle_.reset(raw);
    }

    /// SQLite's result code.
    int run(const std::string& sql) {
        if (status_ != SQLITE_OK) return status_;
        return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    }

    /// The first column of the first row, or the error in brackets.
    std::string text(const std::string& sql) {
        sqlite3_stmt* raw = nullptr;
        sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &raw, nullptr);
        const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(
            raw, &sqlite3_finalize);
        if (raw == nullptr || sqlite3_step(raw) != SQLITE_ROW) {
            return std::string("[") + sqlite3_errmsg(handle_.get()) + "]";
        }
        const auto* found = sqlite3_column_text(raw, 0);
        return found == nullptr ? "" : reinterpret_cast<const char*>(found);
    }

    std::int64_t number(const std::string& sql) {
        const auto found = text(sql);
        EXPECT_FALSE(found.empty() || found.front() == '[') << sql << ": " << found;
        return found.empty() || found.front() == '[' ? -1 : std::stoll(found);
    }

    [[nodiscard]] sqlite3* handle() const { return handle_.get(); }
    void close() { handle_.reset(); }

private:
    struct closer {
        void operator()(sqlite3* handle) const { EXPECT_EQ(sqlite3_close(handle), SQLITE_OK); }
    };
    std::unique_ptr<sqlite3, closer> handle_;
    int status_ = SQLITE_OK;
};

}  // namespace posthorn
