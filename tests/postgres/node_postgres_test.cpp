// Whole nodes on a PostgreSQL server.
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/postgres/postgres_server.hpp"
#include "support/process.hpp"

namespace posthorn::integration {
namespace {

using test::eventually;

class node_on_postgres : public node_test {
protected:
    [[nodiscard]] node_options on_server(const std::string& service,
                                         const test::postgres_place& place) const {
        auto with = options(service);
        with.store.database = place.url();
        with.store.schema = place.schema();
        return with;
    }
    static void count_orders(node& on, std::atomic<int>& handled) {
        on.handle("OrderApproved", [&handled](context& with, const message& got) {
            with.execute("INSERT INTO reserved (id) VALUES (?)", got.id.to_string());
            ++handled;
            return std::string{};
        });
    }

    test::postgres_place ours;
    test::postgres_place theirs;
};

TEST_F(node_on_postgres, a_message_takes_effect_once_with_the_handlers_change) {
    node orders{on_server("orders", ours)};
    node inventory{on_server("inventory", theirs)};
    execute(orders, "CREATE TABLE orders (id text PRIMARY KEY)");
    execute(inventory, "CREATE TABLE reserved (id text PRIMARY KEY)");
    std::atomic<int> handled = 0;
    count_orders(inventory, handled);
    inventory.start();
    orders.start();
    const auto id = orders.transact([](transaction& tx) {
        tx.execute("INSERT INTO orders (id) VALUES (?)", "o1");
        return tx.send("inventory", "OrderApproved", R"({"orderId":"o1"})");
    });
    EXPECT_TRUE(eventually([&] { return orders.stats().sent == 1; }));
    EXPECT_EQ(text(inventory, "SELECT id FROM reserved"), id.to_string());
    EXPECT_EQ(handled, 1);
    EXPECT_EQ(orders.health().level, health_level::green);
}

TEST_F(node_on_postgres,
       transactions_at_the_same_time_take_effect_once_and_in_the_order_of_their_key) {
    constexpr int threads = 12;
    constexpr int each = 20;
    node orders{on_server("orders", ours)};
    node inventory{on_server("inventory", theirs)};
    execute(orders, "CREATE TABLE orders (id text PRIMARY KEY)");
    execute(inventory,
            "CREATE TABLE reserved (n bigint GENERATED ALWAYS AS IDENTITY, id text PRIMARY KEY)");
    std::atomic<int> handled = 0;
    count_orders(inventory, handled);
    inventory.start();
    orders.start();
    // When each message of the key was asked for, and when it was known to be committed.
    struct sending {
        std::string id;
        int begun, ended;
    };
    std::mutex mutex;
    std::vector<sending> of_key;
    std::atomic<int> moment = 0;
    {
        std::vector<std::jthread> service;
        for (int thread = 0; thread < threads; ++thread)
            service.emplace_back([&, thread] {
                for (int i = 0; i < each; ++i) {
                    const int begun = ++moment;
                    const auto id = orders.transact([&](transaction& tx) {
                        tx.execute("INSERT INTO orders (id) VALUES (?)",
                                   fmt::format("{}-{}", thread, i));
                        return tx.send("inventory", "OrderApproved", "{}",
                                       {.order_key = thread % 2 == 0 ? "even" : ""});
                    });
                    const int ended = ++moment;
                    const std::scoped_lock lock(mutex);
                    if (thread % 2 == 0) of_key.push_back({id.to_string(), begun, ended});
                }
            });
    }
    EXPECT_TRUE(eventually([&] { return orders.stats().sent == threads * each; }));
    EXPECT_EQ(text(orders, "SELECT count(*)::text FROM orders"), std::to_string(threads * each));
    EXPECT_EQ(text(inventory, "SELECT count(*)::text FROM reserved"),
              std::to_string(threads * each));
    std::map<std::string, std::size_t> place;
    for (const auto& row :
         test::postgres_client(theirs.url()).rows("SELECT id FROM reserved ORDER BY n"))
        place.emplace(row.at(0).value_or(""), place.size());
    ASSERT_EQ(of_key.size(), threads * each / 2U);
    for (const auto& one : of_key)
        for (const auto& later : of_key)
            if (one.ended < later.begun)
                ASSERT_LT(place.at(one.id), place.at(later.id)) << "that was committed before";
}

TEST_F(node_on_postgres, plain_sql_of_any_client_is_sent) {
    node orders{on_server("orders", ours)};
    node inventory{on_server("inventory", theirs)};
    execute(inventory, "CREATE TABLE reserved (id text PRIMARY KEY)");
    std::atomic<int> handled = 0;
    count_orders(inventory, handled);
    inventory.start();
    orders.start();
    test::postgres_client other(ours.url());
    ASSERT_EQ(other.run("INSERT INTO outbox_messages (destination, endpoint, payload)"
                        " VALUES ('inventory', 'OrderApproved', '{}')"),
              std::nullopt);
    EXPECT_TRUE(eventually([&] { return handled == 1; }));
}

TEST_F(node_on_postgres, a_message_on_the_callers_connection_commits_with_its_change) {
    node orders{on_server("orders", ours)};
    test::postgres_client mine(ours.url());
    const auto send = [&] {
        return orders.send(mine.handle(), "inventory", "OrderApproved", "{}");
    };
    EXPECT_EQ(code_of([&] { send(); }), error_code::no_transaction);
    EXPECT_EQ(code_of([&] { orders.send(static_cast<pg_conn*>(nullptr), "a", "B", "{}"); }),
              error_code::invalid_argument);
    mine.run("CREATE TABLE orders (id text); BEGIN; INSERT INTO orders VALUES ('o1')");
    const auto of = send();
    EXPECT_EQ(code_of([&] { orders.durable(of); }), error_code::not_committed);
    ASSERT_EQ(mine.run("COMMIT"), std::nullopt);
    orders.durable(of);
    mine.run("BEGIN");
    send();
    mine.run("ROLLBACK");
    EXPECT_EQ(integer(orders, "SELECT count(*) FROM outbox_messages"), 1);
    test::postgres_client elsewhere(theirs.url());
    elsewhere.run("BEGIN");
    EXPECT_EQ(text(orders, "SELECT message_id FROM outbox_messages"), of.id.to_string());
}

TEST_F(node_on_postgres, a_message_takes_what_else_it_is_given_along) {
    node orders{on_server("orders", ours)};
    node inventory{on_server("inventory", theirs)};
    std::atomic<int> handled = 0;
    std::vector<message> got;
    inventory.handle("OrderApproved", [&](context&, const message& one) {
        got.push_back(one);
        ++handled;
        return std::string{};
    });
    inventory.start();
    orders.start();
    orders.send("inventory", "OrderApproved", R"({"orderId":"o1"})",
                {.headers = R"({"h":"1"})", .correlation_id = "c1", .order_key = "o1"});
    ASSERT_TRUE(eventually([&] { return handled == 1; }));
    EXPECT_EQ(got[0].endpoint, "OrderApproved");
    EXPECT_EQ(got[0].payload, R"({"orderId":"o1"})");
    EXPECT_EQ(got[0].correlation_id, "c1");
    EXPECT_EQ(got[0].order_key, "o1");
    EXPECT_EQ(got[0].headers, R"({"h":"1"})");
}

TEST_F(node_on_postgres, another_instance_takes_over_and_its_own_messages_are_sent_meanwhile) {
    node inventory{on_server("inventory", theirs)};
    execute(inventory, "CREATE TABLE reserved (id text PRIMARY KEY)");
    std::atomic<int> handled = 0;
    count_orders(inventory, handled);
    inventory.start();
    auto orders = on_server("orders", ours);
    orders.parts = node_parts::outbox;  // A process has one inbox of a service.
    auto first = std::make_unique<node>(orders);
    node second{orders};
    first->start();
    first->send("inventory", "OrderApproved", "{}");
    ASSERT_TRUE(eventually([&] { return handled == 1; }));
    second.start();
    second.send("inventory", "OrderApproved", "{}");  // Which it does itself.
    EXPECT_TRUE(eventually([&] { return handled == 2; }));
    first->stop();
    first.reset();
    second.send("inventory", "OrderApproved", "{}");
    EXPECT_TRUE(eventually([&] { return handled == 3; }));
    EXPECT_EQ(integer(second, "SELECT sum(retry_count)::bigint FROM outbox_messages"), 0);
}

TEST_F(node_on_postgres, each_sends_the_messages_of_its_tenant_and_leaves_those_of_others) {
    node inventory{on_server("inventory", theirs)};
    execute(inventory, "CREATE TABLE reserved (id text PRIMARY KEY)");
    std::atomic<int> handled = 0;
    count_orders(inventory, handled);
    inventory.start();
    const auto of_tenant = [&](const std::string& name) {
        const auto file = directory.file(name + ".toml");
        std::ofstream(file) << "[service]\nid = \"orders\"\nparts = \"outbox\"\n[listen]\nhttp = "
                               "\"\"\nadmin = \"\"\n[store]\nurl = \""
                            << ours.url() << "\"\nschema = \"" << ours.schema()
                            << "\"\n[routes]\ninventory = \"inprocess:\"\n[outbox]\ntenant = \""
                            << name << "\"\n[log]\nlevel = \"error\"\n";
        return std::make_unique<node>(load(file));
    };
    const auto acme = of_tenant("acme");
    acme->start();
    const auto send_all = [&] {
        for (const auto* tenant : {"acme", "zeta", ""})
            acme->send("inventory", "OrderApproved", "{}", {.tenant = tenant});
    };
    const auto sent = [&] {
        return text(*acme,
                    "SELECT coalesce(string_agg(coalesce(tenant, 'none'), ' ' ORDER BY seq), '')"
                    " FROM outbox_messages WHERE status = 'Sent'");
    };
    send_all();
    EXPECT_TRUE(eventually([&] { return sent() == "acme"; })) << sent();
    const auto zeta = of_tenant("zeta");
    zeta->start();
    EXPECT_TRUE(eventually([&] { return sent() == "acme zeta"; })) << sent();
    send_all();
    EXPECT_TRUE(eventually([&] { return sent() == "acme zeta acme zeta"; })) << sent();
    EXPECT_EQ(handled, 4);
    EXPECT_EQ(integer(*acme, "SELECT sum(retry_count)::bigint FROM outbox_messages"), 0);
}

// A file for each step of the tables; a step that lands gets its file, and none of them changes.
TEST_F(node_on_postgres,
       tables_of_earlier_steps_are_brought_up_to_date_and_what_they_hold_is_sent) {
    constexpr int steps_known = 5;
    node inventory{on_server("inventory", theirs)};
    execute(inventory, "CREATE TABLE reserved (id text PRIMARY KEY)");
    std::atomic<int> handled = 0;
    count_orders(inventory, handled);
    inventory.start();
    for (int step = 1; step < steps_known; ++step) {
        SCOPED_TRACE(step);
        const test::postgres_place older;
        std::ifstream file(
            fmt::format("{}/tests/postgres/older/postgres_store_{}.sql", POSTHORN_SOURCE, step));
        std::string sql((std::istreambuf_iterator<char>(file)), {});
        ASSERT_FALSE(sql.empty());
        for (auto at = sql.find("{s}"); at != std::string::npos; at = sql.find("{s}", at))
            sql.replace(at, 3, older.schema());
        ASSERT_EQ(test::postgres_client(older.url()).run(sql), std::nullopt);
        handled = 0;
        node orders{on_server("orders", older)};
        orders.start();
        orders.send("inventory", "OrderApproved", "{}");
        EXPECT_TRUE(eventually([&] { return handled == 2; }));
        const std::string steps =
            "SELECT string_agg(folder || ' ' || number, ',' ORDER BY folder, number)"
            " FROM posthorn_migrations";
        EXPECT_EQ(text(orders, steps), text(inventory, steps)) << "as in a new schema";
        EXPECT_EQ(
            integer(orders, "SELECT max(number) FROM posthorn_migrations WHERE folder = 'store'"),
            steps_known)
            << "a step has landed: keep a file of the one before it, and open that here too";
    }
}

// Queues of their first step are opened in queue_test.cpp.
TEST_F(node_on_postgres,
       tables_of_features_of_earlier_steps_are_brought_up_to_date_with_their_rows) {
    node inventory{on_server("inventory", theirs)};
    const std::string steps =
        "SELECT string_agg(folder || ' ' || number, ',' ORDER BY folder, number)"
        " FROM posthorn_migrations";
    for (const auto* const webhooks : {"webhook_1", "webhook_2"}) {
        SCOPED_TRACE(webhooks);
        const test::postgres_place older;
        test::postgres_client client(older.url());
        for (const auto* const name : {"store_4", webhooks, "forward_1"}) {
            std::ifstream file(
                fmt::format("{}/tests/postgres/older/postgres_{}.sql", POSTHORN_SOURCE, name));
            std::string sql((std::istreambuf_iterator<char>(file)), {});
            ASSERT_FALSE(sql.empty()) << name;
            for (auto at = sql.find("{s}"); at != std::string::npos; at = sql.find("{s}", at))
                sql.replace(at, 3, older.schema());
            ASSERT_EQ(client.run(sql), std::nullopt) << name;
        }
        node orders{on_server("orders", older)};
        EXPECT_EQ(text(orders, steps), text(inventory, steps)) << "as in a new schema";
        EXPECT_EQ(text(orders, "SELECT url FROM webhook_subscriptions"),
                  "https://shop.example/hook");
        EXPECT_EQ(text(orders, "SELECT target FROM sf_messages"), "erp");
        EXPECT_EQ(text(orders,
                       "SELECT string_agg(folder || ' ' || newest, ',' ORDER BY folder) FROM"
                       " (SELECT folder, max(number) AS newest FROM posthorn_migrations"
                       " WHERE folder IN ('webhook', 'forward') GROUP BY folder) AS found"),
                  "forward 2,webhook 3")
            << "a step has landed: keep a file of the one before it, and open that here too";
    }
}

TEST_F(node_on_postgres, is_looked_at_by_the_doctor_without_a_file) {
    const auto doctor = [&](const std::string& url) {
        const std::string config = path("doctor.toml");
        std::ofstream(config) << "[service]\nid = \"orders\"\n[store]\nurl = \"" << url
                              << "\"\nschema = \"" << ours.schema() << "\"\n";
        return test::run_process({POSTHORN_PROGRAM, "doctor", "--config", config});
    };
    const auto empty = doctor(test::postgres_url());
    EXPECT_EQ(empty.end.exit_code, 1);
    EXPECT_THAT(empty.out, testing::HasSubstr("has no tables of Posthorn"));
    {
        const node orders{on_server("orders", ours)};
    }
    const auto fine = doctor(test::postgres_url());
    EXPECT_EQ(fine.end.exit_code, 0) << fine.out;
    EXPECT_THAT(fine.out, testing::HasSubstr("its tables are those of this Posthorn"));
    EXPECT_THAT(fine.out, testing::Not(testing::HasSubstr("SQLite")));
    auto wrong = test::postgres_url();
    wrong.replace(wrong.find(":posthorn@"), 10, ":wrong@");
    const auto refused = doctor(wrong);
    EXPECT_EQ(refused.end.exit_code, 1);
    EXPECT_THAT(refused.out, testing::HasSubstr("look at the name and the password"));
}

}  // namespace
}  // namespace posthorn::integration
