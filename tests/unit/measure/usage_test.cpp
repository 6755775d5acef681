#include "measure/usage.hpp"

#include <array>
#include <fstream>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include "support/temporary_directory.hpp"

namespace posthorn::measure {
namespace {

TEST(usage, counts_the_pages_of_a_database_and_not_its_log) {
    const test::temporary_directory folder;
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(folder.file("one.db").c_str(), &database), SQLITE_OK);
    const auto run = [database](const char* sql) {
        ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    };
    run("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
        "CREATE TABLE t(x)");
    const std::array us{::getpid()};
    EXPECT_EQ(usage_of(us, folder.path()).file_bytes, 2 * 4096) << "still in the log alone";
    for (int i = 0; i < 10; ++i) run("UPDATE t SET x = 1; INSERT INTO t VALUES (2)");
    EXPECT_EQ(usage_of(us, folder.path()).file_bytes, 2 * 4096) << "the same pages, ten times";
    std::ofstream(folder.file("other.log")) << "12345";
    EXPECT_EQ(usage_of(us, folder.path()).file_bytes, 2 * 4096 + 5);
    sqlite3_close(database);
}

TEST(usage, counts_the_memory_and_the_time_of_a_process) {
    const test::temporary_directory folder;
    const std::array us{::getpid()};
    EXPECT_GT(usage_of(us, folder.path()).memory_kib, 0);
    EXPECT_GE(usage_of(us, folder.path()).cpu_ns, 0);
    EXPECT_EQ(usage_of({}, folder.path()).memory_kib, 0) << "of nobody";
}

}  // namespace
}  // namespace posthorn::measure
