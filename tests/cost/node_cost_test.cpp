// What a node costs the machine it runs on.
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/store/storage/sqlite_connection.hpp"
#include "conformance/store/temporary_directory.hpp"
#include "posthorn/node.hpp"
#include "support/process.hpp"

namespace posthorn::cost {
namespace {

class node_cost : public ::testing::Test {
protected:
    /// What the child printed, or nothing if it failed.
    static std::string ask_child(const std::string& command, const std::string& database) {
        const auto done = test::run_process({POSTHORN_COST_CHILD, command, database});
        EXPECT_EQ(done.end, (test::process_end{.exit_code = 0})) << done.err;
        return done.out;
    }

    /// A million pending messages for one destination.
    void make_backlog(const std::string& destination) {
        {
            const node maker({.service = "orders", .store = {.database = path_}});
        }
        conformance::sqlite_connection plain(path_, nullptr, conformance::durability::none);
        ASSERT_EQ(plain.run(fmt::format(
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "
                      "INSERT INTO outbox_messages(message_id, destination, endpoint, payload) "
                      "SELECT printf('01900000-0000-7000-8000-%012x', i), '{}', 'Charge', "
                      "'{{\"amount\":1}}' FROM n",
                      backlog_rows, destination)),
                  std::nullopt);
    }

    void expect_little_memory_with_backlog_for(const std::string& destination) {
        make_backlog(destination);
        const auto printed = ask_child("backlog", path_);
        ASSERT_FALSE(printed.empty());
        const auto peak_kib = std::stoll(printed);
        fmt::print("peak of memory with {} rows for {}: {:.1f} MiB\n", backlog_rows, destination,
                   static_cast<double>(peak_kib) / 1024);
        EXPECT_GT(peak_kib, 1024);  // Otherwise nothing was measured.
        EXPECT_LT(peak_kib, memory_max_kib);
    }

    static constexpr int backlog_rows = 1'000'000;
    static constexpr int memory_max_kib = 64 * 1024;
    conformance::temporary_directory place_;
    std::string path_ = (place_.path() / "orders.db").string();
};

TEST_F(node_cost, memory_stays_small_with_a_million_messages_that_have_no_route) {
    expect_little_memory_with_backlog_for("nowhere");
}

TEST_F(node_cost, memory_stays_small_with_a_million_messages_for_one_that_does_not_answer) {
    expect_little_memory_with_backlog_for("silent");
}

TEST_F(node_cost, an_idle_node_hardly_wakes_and_hardly_computes) {
    std::istringstream printed(ask_child("idle", path_));
    double wakeups_per_second = -1;
    double cpu_us_per_second = -1;
    ASSERT_TRUE(printed >> wakeups_per_second >> cpu_us_per_second);
    fmt::print("idle: {} wakeups/s, {:.2f} % of a core\n", wakeups_per_second,
               cpu_us_per_second / 10'000);
    EXPECT_GT(wakeups_per_second,
              0);  // It sweeps and beats; none at all would be a broken measure.
    // Some twenty: a look of each service every second, and a dozen after each commit of its own.
    EXPECT_LT(wakeups_per_second, 30);
    EXPECT_LT(cpu_us_per_second, 10'000);  // One hundredth of a core.
}

}  // namespace
}  // namespace posthorn::cost
