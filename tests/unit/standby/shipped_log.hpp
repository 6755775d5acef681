#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "standby/wal_format.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::standby {

inline std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// A database of SQLite's own with a log, as a primary has it.
class a_primary {
public:
    explicit a_primary(std::filesystem::path path) : path_(std::move(path)) {
        EXPECT_EQ(sqlite3_open(path_.c_str(), &database_), SQLITE_OK);
        run("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
    }
    ~a_primary() { sqlite3_close(database_); }
    a_primary(const a_primary&) = delete;
    a_primary& operator=(const a_primary&) = delete;

    void run(const char* sql) const {
        char* why = nullptr;
        EXPECT_EQ(sqlite3_exec(database_, sql, nullptr, nullptr, &why), SQLITE_OK) << why;
        sqlite3_free(why);
    }
    /// Rows of many pages.
    void add_notes(int count) const {
        run(("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
             std::to_string(count) +
             ") INSERT INTO notes (text) SELECT hex(randomblob(100)) FROM n")
                .c_str());
    }
    void checkpoint() const { run("PRAGMA wal_checkpoint(PASSIVE)"); }

    [[nodiscard]] std::vector<std::byte> file() const { return bytes_of(path_); }
    [[nodiscard]] std::vector<std::byte> log() const { return bytes_of(path_.string() + "-wal"); }
    [[nodiscard]] log_header header() const { return *read_log_header(log()); }
    /// The frames from there to the end of the last transaction.
    [[nodiscard]] std::vector<std::byte> frames_from(std::uint64_t offset) const {
        const auto all = log();
        log_walk walk(header());
        walk.pass(bytes_view(all).subspan(log_header_size));
        return {all.begin() + static_cast<std::ptrdiff_t>(offset),
                all.begin() + static_cast<std::ptrdiff_t>(walk.end().offset)};
    }

private:
    std::filesystem::path path_;
    sqlite3* database_ = nullptr;
};

}  // namespace posthorn::standby
