#include "measure/sync_watch.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "support/temporary_directory.hpp"

namespace posthorn::measure {
namespace {

// A store puts copies of the table of functions in its place while it checkpoints.
TEST(sync_watch, counts_the_syncs_of_a_file_whose_functions_others_replaced) {
    int told = 0;
    watch_syncs([&told] { ++told; });
    const test::temporary_directory folder;
    const auto path = (folder.path() / "one.db").string();
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    const auto run = [database](const char* sql) {
        return sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
    };
    ASSERT_EQ(run("PRAGMA synchronous = FULL; CREATE TABLE t(x)"), SQLITE_OK);
    EXPECT_GT(told, 0);

    sqlite3_file* file = nullptr;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
    const auto* real = file->pMethods;
    const auto copy = *real;
    file->pMethods = &copy;
    const auto before = syncs_so_far();
    EXPECT_EQ(run("INSERT INTO t VALUES (1)"), SQLITE_OK);
    EXPECT_GT(syncs_so_far(), before);
    file->pMethods = real;
    sqlite3_close(database);
    watch_syncs({});
}

}  // namespace
}  // namespace posthorn::measure
