// Several processes of one service on a PostgreSQL server.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

#include "base/time/clock.hpp"
#include "integration/instance.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using test::eventually;

/// How many messages go from four processes in all; a run by hand asks for more.
std::int64_t messages_in_all() {
    const char* const asked = std::getenv("POSTHORN_PROOF_MESSAGES");
    return asked == nullptr ? 4'000 : std::stoll(asked);
}

class processes_on_postgres : public testing::Test {
protected:
    processes_on_postgres() {
        test::sqlite_file made(folder_.file("stock.db"), test::sqlite_file::make);
        made.run("CREATE TABLE reserved (item TEXT, count INTEGER)");
        stock_ = std::make_unique<sidecar>(
            folder_, "stock",
            std::string(quiet) + free_ports + secret_with("orders") +
                "[handlers]\nReserve = \"sql:INSERT INTO reserved VALUES (:item, :count)\"\n");
        orders_.rest = no_listeners + secret_with("stock") +
                       "[routes]\nstock = \"http://127.0.0.1:" + stock_->port() + "\"\n";
        orders_.prepare(folder_.file("orders.toml"));
    }

    std::vector<std::unique_ptr<instance>> start(std::size_t count) {
        std::vector<std::unique_ptr<instance>> all;
        while (all.size() < count)
            all.push_back(std::make_unique<instance>(folder_.file("orders.toml")));
        EXPECT_TRUE(eventually([&] { return orders_.seats() == count; }, 30s, 20ms));
        return all;
    }
    void run(const std::string& sql) {
        ASSERT_EQ(test::postgres_client(place_.url()).run(sql), std::nullopt) << sql;
    }
    [[nodiscard]] bool is_drained(std::chrono::minutes limit = 1min) const {
        test::postgres_client eye(place_.url());
        return eventually([&] { return eye.rows("SELECT 1 FROM outbox_pending LIMIT 1").empty(); },
                          limit, 20ms);
    }
    /// One whose sessions the server shows under its name, and that deletes old rows every second.
    [[nodiscard]] std::unique_ptr<instance> start_named(const std::string& name) const {
        auto text = orders_.text() + "[outbox]\ncleanup_interval = \"1s\"\n";
        const auto url = place_.url();
        text.replace(text.find(url), url.size(), url + "&application_name=" + name);
        std::ofstream(folder_.file(name + ".toml")) << text;
        return std::make_unique<instance>(folder_.file(name + ".toml"));
    }
    /// Some with an order key, of which there are ten.
    void insert(std::int64_t first, std::int64_t last) {
        run("INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
            " SELECT 'stock', 'Reserve', '{\"item\":\"' || i % 200 || '\",\"count\":' || i"
            " || '}', CASE WHEN i % 200 < 10 THEN i % 200 END FROM generate_series(" +
            std::to_string(first) + ", " + std::to_string(last) + ") AS i");
    }
    [[nodiscard]] std::int64_t senders() const {
        return orders_.number(
            "SELECT count(DISTINCT epoch) FROM changes WHERE kind = 'outbox.sent'");
    }
    /// By the number of the process, which its seat names.
    void kill_one_that_has_claims(std::vector<std::unique_ptr<instance>>& all) {
        test::postgres_client eye(place_.url());
        const auto victim = [&] {
            const auto owners = eye.rows(
                "SELECT owner FROM posthorn_leases WHERE name LIKE 'dispatcher/%' AND epoch IN"
                " (SELECT claim_epoch FROM outbox_due)");
            return std::ranges::find_if(all, [&](const auto& one) {
                const auto number = std::to_string(one->child().id());
                return std::ranges::any_of(owners, [&](const auto& row) {
                    return row[0].value_or("").find(number) != std::string::npos;
                });
            });
        };
        ASSERT_TRUE(eventually([&] { return victim() != all.end(); }));
        const auto found = victim();
        ASSERT_NE(found, all.end());
        (*found)->child().send_signal(SIGKILL);
        all.erase(found);
    }
    /// How often a message came to the receiver that it knew already.
    [[nodiscard]] std::string duplicates_met() const {
        const auto page = test::ask(test::port_in(stock_->line(1)),
                                    "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                              .body;
        const std::string name = "\nrf_inbox_duplicate_count ";
        const auto at = page.find(name);
        if (at == std::string::npos) return page;
        const auto from = at + name.size();
        return page.substr(from, page.find('\n', from) - from);
    }

    real_clock clock_;
    test::temporary_directory folder_;
    test::postgres_place place_;
    service_on_server orders_{.id = "orders", .place = &place_, .parts = "outbox"};
    std::unique_ptr<sidecar> stock_;
};

TEST_F(processes_on_postgres, drain_what_is_due_and_none_of_it_twice) {
    constexpr std::int64_t messages = 300;
    insert(1, messages);
    constexpr int at_once = 3;
    std::vector<std::unique_ptr<test::process>> all;
    for (int i = 0; i < at_once; ++i)
        all.push_back(std::make_unique<test::process>(std::vector<std::string>{
            POSTHORN_PROGRAM, "drain", "--batch", "40", "--config", folder_.file("orders.toml")}));
    std::int64_t processed = 0;
    for (auto& each : all) {
        EXPECT_EQ(each->wait(), exit_0) << each->err();
        processed += std::stoll(each->out());
    }
    EXPECT_EQ(processed, messages);
    EXPECT_EQ(stock_->database().integer("SELECT count(*) FROM reserved"), messages);
    EXPECT_EQ(stock_->database().integer("SELECT count(DISTINCT count) FROM reserved"), messages);
}

TEST_F(processes_on_postgres, share_an_outbox_and_a_killed_ones_part_is_sent_in_order_by_others) {
    auto orders = start(4);
    // One may be fast enough to send all of a few.
    std::int64_t messages = 0;
    ASSERT_TRUE(eventually([&] {
        if (orders_.number("SELECT count(*) FROM outbox_pending") < 10'000) {
            insert(messages + 1, messages + 1'000);
            messages += 1'000;
        }
        return senders() > 1;
    }));
    insert(messages + 1, messages + 8'000);
    messages += 8'000;
    kill_one_that_has_claims(orders);
    EXPECT_TRUE(is_drained());
    EXPECT_EQ(orders_.number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"),
              messages);
    EXPECT_EQ(orders_.number("SELECT sum(retry_count) FROM outbox_messages"), 0)
        << "a death is no attempt";
    auto at_stock = stock_->database();
    EXPECT_EQ(at_stock.integer("SELECT count(*) FROM reserved"), messages);
    EXPECT_EQ(at_stock.integer("SELECT count(DISTINCT count) FROM reserved"), messages);
    EXPECT_EQ(at_stock.integer(
                  "SELECT count(*) FROM (SELECT count, lag(count) OVER (PARTITION BY item ORDER BY"
                  " rowid) AS before FROM reserved WHERE CAST(item AS INTEGER) < 10)"
                  " WHERE count < before"),
              0);
    EXPECT_TRUE(eventually([&] { return orders_.seats() == 3; }, 30s, 20ms));
    for (auto& one : orders) one->stop();
    EXPECT_EQ(orders_.seats(), 0U);
    stock_->stop();
}

// Who deletes, or tries to, is written down by a trigger.
TEST_F(processes_on_postgres, do_what_one_does_at_a_time_in_turn_when_one_dies) {
    run("CREATE TABLE tidied (who text);"
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO tidied VALUES (current_setting('application_name')); RETURN NULL; END $$;"
        "CREATE TRIGGER note AFTER DELETE ON outbox_messages EXECUTE FUNCTION note()");
    const auto is_tidied = [&] {
        run("INSERT INTO outbox_messages (destination, endpoint, payload, status, sent_at)"
            " VALUES ('stock', 'Reserve', '{}', 'Sent', 1)");
        return eventually(
            [&] { return orders_.number("SELECT count(*) FROM outbox_messages") == 0; }, 30s, 20ms);
    };
    const auto who = [&] {
        return test::postgres_client(place_.url())
            .rows("SELECT DISTINCT who FROM tidied ORDER BY 1");
    };
    using row = test::postgres_client::row;
    auto first = start_named("first");
    ASSERT_TRUE(is_tidied());
    const auto second = start_named("second");
    ASSERT_TRUE(eventually([&] { return orders_.seats() == 2; }, 30s, 20ms));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(is_tidied());
    EXPECT_THAT(who(), testing::ElementsAre(row{"first"}));
    run("TRUNCATE tidied");
    first->child().send_signal(SIGKILL);
    first.reset();
    ASSERT_TRUE(is_tidied());
    EXPECT_THAT(who(), testing::ElementsAre(row{"second"}));
    second->stop();
    stock_->stop();
}

// Who writes down what another node said is noted by a trigger.
TEST_F(processes_on_postgres, ask_other_nodes_by_one_of_them_and_the_next_goes_on_when_that_stops) {
    orders_.rest +=
        "[desk]\nnodes = [{ name = \"gone\", url = \"http://127.0.0.1:1\" }]\n"
        "nodes_every = \"100ms\"\n";
    run("CREATE TABLE heard (who text);"
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO heard VALUES (current_setting('application_name')); RETURN NULL; END $$;"
        "CREATE TRIGGER note AFTER INSERT OR UPDATE ON posthorn_nodes EXECUTE FUNCTION note()");
    const auto is_heard = [&](std::int64_t times) {
        return eventually([&] { return orders_.number("SELECT count(*) FROM heard") >= times; },
                          30s, 20ms);
    };
    const auto who = [&] {
        return test::postgres_client(place_.url())
            .rows("SELECT DISTINCT who FROM heard ORDER BY 1");
    };
    using row = test::postgres_client::row;
    const auto first = start_named("first");
    ASSERT_TRUE(is_heard(1));
    const auto second = start_named("second");
    ASSERT_TRUE(eventually([&] { return orders_.seats() == 2; }, 30s, 20ms));
    ASSERT_TRUE(is_heard(orders_.number("SELECT count(*) FROM heard") + 5));
    EXPECT_THAT(who(), testing::ElementsAre(row{"first"}));
    first->stop();
    run("TRUNCATE heard");
    ASSERT_TRUE(is_heard(1));
    EXPECT_THAT(who(), testing::ElementsAre(row{"second"}));
    EXPECT_EQ(orders_.number("SELECT count(*) FROM posthorn_nodes WHERE light = 'red'"), 1);
    second->stop();
    stock_->stop();
}

// Rows are there before anybody may send them. One and four take turns, so that both meet the same
// tables; what is printed of their speed is for a run by hand:
//   POSTHORN_PROOF_MESSAGES=1000000 integration_postgres --gtest_filter=*four_of_them*
TEST_F(processes_on_postgres, four_of_them_send_each_message_once) {
    constexpr int turns = 2;
    const auto of_turn = messages_in_all() / turns;
    std::chrono::duration<double> taken_by_one{}, taken_by_four{};
    std::int64_t sent = 0;
    for (int turn = 0; turn < 2 * turns; ++turn) {
        const std::size_t count = turn % 2 == 0 ? 1 : 4;
        run("INSERT INTO outbox_paused VALUES ('stock', 0, 'not yet')");
        run(
            fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload)"
                        " SELECT 'stock', 'Reserve', '{{\"item\":\"{}\",\"count\":' || i || '}}'"
                        " FROM generate_series({}, {}) AS i",
                        count, sent + 1, sent + of_turn));
        run("VACUUM ANALYZE outbox_due");
        sent += of_turn;
        auto orders = start(count);
        run("DELETE FROM outbox_paused");
        const auto begun = clock_.steady();
        ASSERT_TRUE(is_drained(30min));
        (count == 1 ? taken_by_one : taken_by_four) += clock_.steady() - begun;
        for (auto& one : orders) one->stop();
    }
    auto at_stock = stock_->database();
    EXPECT_EQ(at_stock.integer("SELECT count(*) FROM reserved"), sent);
    EXPECT_EQ(at_stock.integer("SELECT count(DISTINCT count) FROM reserved"), sent);
    EXPECT_EQ(orders_.number("SELECT sum(retry_count) FROM outbox_messages"), 0);
    EXPECT_EQ(duplicates_met(), "0") << "no message was sent twice, even to one that would notice";
    const auto half = static_cast<double>(turns * of_turn);
    fmt::print("messages a second: {:.0f} by one process, {:.0f} by four\n",
               half / taken_by_one.count(), half / taken_by_four.count());
    stock_->stop();
}

}  // namespace
}  // namespace posthorn::integration
