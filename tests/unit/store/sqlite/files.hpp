#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "conformance/store/temporary_directory.hpp"

namespace posthorn::sqlite {

/// A handle of SQLite's own on a file, that never waits and never checkpoints unasked.
class plain_handle {
public:
    explicit plain_handle(const std::string& path) {
        EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
        sqlite3_wal_autocheckpoint(handle_, 0);
        // A handle that never read anything does not know that there is a WAL.
        EXPECT_EQ(run("SELECT count(*) FROM sqlite_schema"), SQLITE_OK);
    }
    ~plain_handle() { EXPECT_EQ(sqlite3_close(handle_), SQLITE_OK); }
    plain_handle(const plain_handle&) = delete;
    plain_handle& operator=(const plain_handle&) = delete;

    /// SQLite's result code.
    int run(const std::string& sql) {
        return sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    }
    /// The first column of the first row.
    std::int64_t number(const std::string& sql) {
        sqlite3_stmt* query = nullptr;
        sqlite3_prepare_v2(handle_, sql.c_str(), -1, &query, nullptr);
        EXPECT_EQ(sqlite3_step(query), SQLITE_ROW) << sql << ": " << sqlite3_errmsg(handle_);
        const auto found = sqlite3_column_int64(query, 0);
        sqlite3_finalize(query);
        return found;
    }
    int checkpoint(int mode) {
        return sqlite3_wal_checkpoint_v2(handle_, "main", mode, nullptr, nullptr);
    }
    [[nodiscard]] sqlite3* get() const { return handle_; }

private:
    sqlite3* handle_ = nullptr;
};

/// A place with a WAL database in it that has a table `t(n)`.
class on_a_file : public ::testing::Test {
protected:
    on_a_file() {
        plain_handle made(path_);
        EXPECT_EQ(made.run("PRAGMA journal_mode = WAL; CREATE TABLE t(n)"), SQLITE_OK);
    }

    conformance::temporary_directory place_;
    std::string path_ = (place_.path() / "orders.db").string();
};

}  // namespace posthorn::sqlite
