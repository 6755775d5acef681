// A node that cannot do its work says so, and says so no longer once it can.
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>

#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"

namespace posthorn::integration {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::eventually;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A node `orders`, what its health says, and what it logs.
class node_stuck : public node_test {
protected:
    [[nodiscard]] node_options heard() {
        auto with = options("orders");
        with.log_sink = [this](std::string_view line) {
            const std::scoped_lock lock(mutex_);
            lines_.emplace_back(line);
        };
        return with;
    }
    [[nodiscard]] std::ptrdiff_t lines_with(std::string_view text) {
        const std::scoped_lock lock(mutex_);
        return std::ranges::count_if(lines_, [&](const auto& line) { return line.contains(text); });
    }
    /// Whether health comes to have that colour and a reason with the text.
    static bool comes_to(const node& of, health_level level, std::string_view text) {
        return eventually([&] {
            const auto seen = of.health();
            return seen.level == level && std::ranges::any_of(seen.reasons, [&](const auto& why) {
                       return why.contains(text);
                   });
        });
    }
    static bool comes_to_green(const node& of) {
        return eventually([&] { return of.health().level == health_level::green; });
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

TEST_F(node_stuck, by_a_lock_that_another_program_holds) {
    node orders(heard());
    orders.start();
    ASSERT_TRUE(comes_to_green(orders));
    database other(path("orders"));
    other.run("BEGIN IMMEDIATE");
    auto sent = std::async(std::launch::async, [&] {
        return code_of([&] { orders.send("billing", "Charge", "{}"); });
    });
    EXPECT_TRUE(comes_to(orders, health_level::red, "the store cannot be written: database is"));
    EXPECT_EQ(sent.get(), error_code::store_busy);
    other.run("ROLLBACK");
    EXPECT_TRUE(comes_to_green(orders));
}

TEST_F(node_stuck, behind_a_transaction_that_takes_long) {
    node orders(heard());
    orders.start();
    bool said = false;
    orders.transact([&](transaction&) {
        said = comes_to(orders, health_level::yellow, "a write has waited for");
    });
    EXPECT_TRUE(said);
    EXPECT_TRUE(comes_to_green(orders));
}

TEST_F(node_stuck, by_a_file_that_was_deleted_under_it) {
    for (const std::string suffix : {"", "-wal", "-shm"}) {
        SCOPED_TRACE(suffix);
        const auto service = "orders" + suffix;
        auto with = heard();
        with.service = service;
        with.store.database = path(service);
        std::optional<node> orders(std::in_place, with);
        orders->start();
        orders->send("billing", "Charge", "{}");
        ASSERT_TRUE(comes_to_green(*orders));
        const auto file = path(service) + suffix;
        fs::remove(file);
        EXPECT_TRUE(comes_to(*orders, health_level::red, file + " was deleted"));
        EXPECT_EQ(lines_with(file + " was deleted"), 1);
        orders.reset();
        // What it had committed is there again once it has stopped, if the database itself is.
        if (!suffix.empty())
            EXPECT_EQ(database(path(service)).integer("SELECT count(*) FROM outbox_messages"), 1);
    }
}

TEST_F(node_stuck, on_a_file_that_was_replaced_under_it) {
    node orders(heard());
    orders.start();
    ASSERT_TRUE(comes_to_green(orders));
    fs::rename(path("orders"), path("kept"));
    fs::copy_file(path("kept"), path("orders"));
    EXPECT_TRUE(comes_to(orders, health_level::red, path("orders") + " was replaced"));
    fs::rename(path("kept"), path("orders"));
    EXPECT_TRUE(comes_to_green(orders));
}

TEST_F(node_stuck, with_outcomes_that_a_trigger_does_not_let_it_record) {
    node billing(options("billing"));
    std::atomic<int> charged = 0;
    billing.handle("Charge", [&](context&, const message&) { ++charged; });
    billing.start();
    node orders(heard());
    orders.start();
    database by_hand(path("orders"));
    by_hand.run(
        "CREATE TRIGGER mine BEFORE UPDATE OF status ON outbox_messages WHEN NEW.status = 'Sent' "
        "BEGIN SELECT RAISE(ABORT, 'not while I count'); END");
    orders.send("billing", "Charge", "{}");
    EXPECT_TRUE(comes_to(orders, health_level::yellow, "not while I count"));
    EXPECT_THAT(orders.health().reasons, Contains(HasSubstr("what became of 1 message cannot")));
    EXPECT_EQ(charged, 1);
    by_hand.run("DROP TRIGGER mine");
    EXPECT_TRUE(comes_to_green(orders));
    EXPECT_EQ(orders.stats().sent, 1);
    EXPECT_EQ(charged, 1);
}

TEST_F(node_stuck, behind_the_clock_of_its_own_database) {
    {
        node orders(heard());
        EXPECT_THAT(orders.health().reasons, IsEmpty());
    }
    EXPECT_EQ(lines_with("the clock shows"), 0);
    database(path("orders"))
        .run(
            "INSERT INTO outbox_messages (destination, endpoint, payload, created_at, expires_at) "
            "SELECT 'billing', 'Charge', '{}', t + 600000, t + 3600000 "
            "FROM (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS t)");
    node orders(heard());
    EXPECT_TRUE(comes_to(orders, health_level::yellow, "but the database was used at"));
    EXPECT_EQ(lines_with("the clock shows"), 1);
}

}  // namespace
}  // namespace posthorn::integration
