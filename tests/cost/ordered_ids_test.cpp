// What ids that do not follow the time would cost.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/time/clock.hpp"
#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "posthorn/node.hpp"

namespace posthorn::cost {
namespace {

double rows_per_second(const std::string& id) {
    constexpr int rows_before = 150'000;
    constexpr int rows_measured = 20'000;
    const conformance::temporary_directory place;
    const auto path = (place.path() / "orders.db").string();
    {
        const node maker({.service = "orders", .store = {.database = path}});
    }
    conformance::sqlite_connection plain(path, nullptr, conformance::durability::full);
    const auto insert = [&](int first, int count) {
        EXPECT_EQ(plain.run(fmt::format(
                      "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT {}) "
                      "INSERT INTO outbox_messages(message_id, destination, endpoint, payload) "
                      "SELECT {}, 'billing', 'Charge', '{{}}' FROM n",
                      first, count, id)),
                  std::nullopt);
    };
    insert(1, rows_before);
    const real_clock time;
    const auto begun = time.steady();
    constexpr int batch = 500;
    for (int done = 0; done < rows_measured; done += batch) insert(rows_before + 1 + done, batch);
    const std::chrono::duration<double> took = time.steady() - begun;
    return rows_measured / took.count();
}

TEST(ordered_ids, are_inserted_faster_than_random_ones) {
    const auto ordered = rows_per_second("printf('01900000-0000-7000-8000-%012x', i)");
    const auto random = rows_per_second(
        "printf('%s-0000-7000-8000-%012x', "
        "lower(hex(randomblob(4))), i)");
    fmt::print("batched inserts a second: {:.0f} with ids in order, {:.0f} with random ones\n",
               ordered, random);
    EXPECT_GT(ordered, random);
}

}  // namespace
}  // namespace posthorn::cost
