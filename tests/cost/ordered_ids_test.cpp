// What ids that do not follow the time would cost.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "posthorn/node.hpp"

namespace posthorn::cost {
namespace {

/// Bytes of the log that batched inserts into a full table write.
std::uintmax_t bytes_logged(const std::string& id) {
    constexpr int rows_before = 150'000;
    constexpr int rows_measured = 20'000;
    const conformance::temporary_directory place;
    const auto path = (place.path() / "orders.db").string();
    {
        const node maker({.service = "orders", .store = {.database = path}});
    }
    conformance::sqlite_connection plain(path, nullptr, conformance::durability::none);
    const auto run = [&](const std::string& sql) { EXPECT_EQ(plain.run(sql), std::nullopt); };
    const auto insert = [&](int first, int count) {
        run(
            fmt::format("WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT {}) "
                        "INSERT INTO outbox_messages(message_id, destination, endpoint, payload) "
                        "SELECT {}, 'billing', 'Charge', '{{}}' FROM n",
                        first, count, id));
    };
    insert(1, rows_before);
    plain.rows("PRAGMA wal_checkpoint(TRUNCATE)");
    plain.rows("PRAGMA wal_autocheckpoint = 0");  // So that the log holds every page written.
    constexpr int batch = 500;
    for (int done = 0; done < rows_measured; done += batch) insert(rows_before + 1 + done, batch);
    return std::filesystem::file_size(path + "-wal");
}

TEST(ordered_ids, write_fewer_pages_than_random_ones) {
    const auto ordered = bytes_logged("printf('01900000-0000-7000-8000-%012x', i)");
    const auto random = bytes_logged(
        "printf('%s-0000-7000-8000-%012x', "
        "lower(hex(randomblob(4))), i)");
    fmt::print("bytes of the log: {} with ids in order, {} with random ones\n", ordered, random);
    EXPECT_GT(ordered, 0U);
    EXPECT_LT(2 * ordered, random);
}

}  // namespace
}  // namespace posthorn::cost
