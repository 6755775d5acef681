// A store that moves from a file to a server: `posthorn migrate`, and nodes before and after.
#include <atomic>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <signal.h>

#include <posthorn/error.hpp>

#include "integration/node/fixture.hpp"
#include "support/eventually.hpp"
#include "support/postgres/postgres_server.hpp"
#include "support/process.hpp"

namespace posthorn::integration {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using testing::HasSubstr;

/// The receiver of what is sent, before and after; it keeps what took effect, in order.
class move : public node_test {
protected:
    void SetUp() override {
        inventory_ = std::make_unique<node>(options("inventory"));
        execute(*inventory_,
                "CREATE TABLE taken (n INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT)");
        inventory_->handle("Take", [](context& with, const message& got) {
            with.execute("INSERT INTO taken (id, body) VALUES (?, ?)", got.id.to_string(),
                         got.payload);
            return std::string{};
        });
        inventory_->handle("Once", [this](context&, const message&) -> std::string {
            if (refuses_) throw permanent("no such thing");
            return "{}";
        });
        inventory_->start();
    }
    [[nodiscard]] node_options orders_on(const std::string& database) const {
        auto with = options("orders");
        with.store.database = database;
        with.store.schema = place_.schema();
        return with;
    }
    void answer(node& on) {
        on.handle("Ask", [this](context&, const message&) {
            ++asked_;
            return R"({"answer":42})";
        });
    }
    std::string file() const { return path("orders"); }

    void fill_at_work(const node_options& with) {
        node orders{with};
        answer(orders);
        orders.start();
        orders.send("inventory", "Take", R"({"n":"sent"})");
        first_ = orders.send("inventory", "Once", "{}", {.order_key = "k"});
        ASSERT_TRUE(eventually([&] { return orders.stats().dead == 1; }));
        orders.send("inventory", "Take", R"({"n":"after 1"})", {.order_key = "k"});
        orders.send("inventory", "Take", R"({"n":"after 2"})", {.order_key = "k"});
        inventory_->send("orders", "Ask", "{}");
        ASSERT_TRUE(eventually([&] { return asked_ == 1; }));
        ASSERT_TRUE(eventually([&] { return inventory_->stats().pending == 0; }));
        orders.send("nobody", "Take", R"({"n":"late"})");
        ASSERT_TRUE(eventually(
            [&] { return integer(orders, "SELECT count(*) FROM outbox_attempts") > 1; }));
        ASSERT_TRUE(eventually([&] { return orders.stats().sent == 1; }));
    }

    /// Something in every table.
    void fill() {
        auto with = orders_on(file());
        fill_at_work(with);
        node orders{with};  // It is not started: what is stored now stays.
        orders.pause("inventory", "to move");
        known_ = orders.send("inventory", "Take", R"({"n":"known"})", {.dedupe_key = "d"});
        orders.send("inventory", "Take", "\x01\xff tab\t\\ bytes",
                    {.content_type = "application/octet-stream", .tenant = "t", .priority = 3});
        execute(orders,
                "INSERT INTO outbox_messages (destination, endpoint, payload, deliver_at)"
                " VALUES ('inventory', 'Take', '{}', strftime('%s', 'now') * 1000 + 36000000)");
        execute(orders,
                "INSERT INTO outbox_messages (destination, endpoint, payload, dedupe_key)"
                " VALUES ('inventory', 'Take', '{}', 'd')");
        execute(orders,
                "INSERT INTO posthorn_audit (at, who, what, target, outcome)"
                " VALUES (1, 'a', 'b', 'c', 'd')");
        execute(orders,
                "INSERT INTO posthorn_history (step, at, node, kind, name, done, failed, dead,"
                " duplicates, waiting, oldest_ms, took)"
                " VALUES (60, 1, 'elsewhere/1', 'd', 'crm', 4, 3, 2, 1, 5, 6, '3:4')");
        execute(orders,
                "INSERT INTO posthorn_nodes (node, began_at, asked_at, light, answered, reasons,"
                " service, version, latency_ms)"
                " VALUES ('stock', 1, 2, 'red', 0, '[\"gone\"]', '', '', 7)");
        execute(orders,
                "INSERT INTO posthorn_queue (message_id, source, endpoint, message_type, payload,"
                " content_type, received_at, taken_by, taken_until, attempts, given_up_at, error)"
                " VALUES ('a', 'b', 'c', 'd', 'e', 'f', 1, 'me', 2, 3, NULL, NULL),"
                " ('a2', 'b', 'c', 'd', 'e', 'f', 1, 'me', 2, 3, 4, 'no such sku')");
        execute(orders, "CREATE TABLE mine (id TEXT)");
        execute(orders,
                "INSERT INTO outbox_messages (destination, endpoint, payload)"
                " VALUES ('gone', 'Take', '{}')");
        execute(orders, "DELETE FROM outbox_messages WHERE destination = 'gone'");
    }

    test::process_result migrate(std::vector<std::string> more = {}) {
        std::vector<std::string> all{POSTHORN_PROGRAM, "migrate", "sqlite:" + file()};
        if (more.empty()) more = {test::postgres_url(), "--schema", place_.schema()};
        all.insert(all.end(), more.begin(), more.end());
        return test::run_process(all);
    }
    [[nodiscard]] std::string on_server(const std::string& sql) const {
        test::postgres_client client(place_.url());
        const auto found = client.rows(sql);
        return found.empty() ? "" : found.front().front().value_or("NULL");
    }
    /// Makes the schema empty, and then is in the way of who writes to a table.
    void empty_and_lock(test::postgres_client& with, const std::string& table) {
        for (const auto& sql :
             {std::string("TRUNCATE outbox_messages, outbox_due, outbox_attempts, outbox_ended,"
                          " outbox_causes, outbox_closed, outbox_paused, inbox_messages,"
                          " posthorn_leases, changes, posthorn_audit, posthorn_queue,"
                          " posthorn_history, posthorn_nodes"),
              std::string("DELETE FROM posthorn_meta"), std::string("BEGIN"),
              "LOCK TABLE " + table + " IN SHARE MODE"})
            ASSERT_EQ(with.run(sql), std::nullopt);
    }
    /// The backend of the move that waits for a client of ours; others move beside this test.
    [[nodiscard]] std::string backend_behind(test::postgres_client& in_the_way) const {
        const auto ours = in_the_way.rows("SELECT pg_backend_pid()").front().front().value();
        std::string pid;
        static_cast<void>(eventually([&] {
            pid = on_server(
                "SELECT pid FROM pg_stat_activity WHERE application_name ="
                " 'posthorn migrate' AND " +
                ours + " = ANY (pg_blocking_pids(pid))");
            return !pid.empty();
        }));
        return pid;
    }
    [[nodiscard]] std::string refusal() const {
        try {
            const node started{orders_on(file())};
        } catch (const error& refused) {
            return refused.what();
        }
        return "";
    }

    test::postgres_place place_;
    std::unique_ptr<node> inventory_;
    std::atomic<int> asked_ = 0;
    std::atomic<bool> refuses_ = true;
    uuid first_;
    uuid known_;
};

TEST_F(move, goes_on_where_it_stopped) {
    fill();
    const auto done = migrate();
    ASSERT_EQ(done.end.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("not copied, since they are yours: mine\n"));
    const auto last =
        database(file()).integer("SELECT seq FROM sqlite_sequence WHERE name = 'outbox_messages'");
    EXPECT_EQ(
        on_server("SELECT count(*) FROM outbox_pending"),
        database(file()).text("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"));
    EXPECT_EQ(on_server("SELECT order_key FROM outbox_closed WHERE status = 'Dead'"), "k");
    EXPECT_EQ(on_server("SELECT value FROM posthorn_meta WHERE name = 'service'"), "orders");
    EXPECT_EQ(on_server("SELECT sum(dead) FROM outbox_causes"), "1");
    EXPECT_EQ(on_server("SELECT taken_by || attempts FROM posthorn_queue"), "me3");
    EXPECT_EQ(on_server("SELECT name || done || waiting || took FROM posthorn_history"
                        " WHERE node = 'elsewhere/1'"),
              "crm453:4");
    EXPECT_EQ(on_server("SELECT node || asked_at || reasons || latency_ms FROM posthorn_nodes"),
              "stock2[\"gone\"]7");
    EXPECT_EQ(on_server("SELECT seq || error || given_up_at FROM posthorn_queue WHERE given_up_at"
                        " IS NOT NULL"),
              "2no such sku4");
    EXPECT_EQ(on_server("SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'"),
              database(file()).text("SELECT epoch FROM posthorn_leases WHERE name = 'dispatcher'"));

    refuses_ = false;
    node orders{orders_on(place_.url())};
    answer(orders);
    orders.start();
    orders.check_integrity();
    // What this one was told before is told again, and takes no effect.
    database(path("inventory"))
        .run("UPDATE outbox_messages SET status = 'Pending', sent_at = NULL");
    EXPECT_TRUE(eventually([&] { return orders.stats().duplicates == 1; }));
    EXPECT_EQ(asked_, 1);
    EXPECT_EQ(orders.send("inventory", "Take", "{}", {.dedupe_key = "d"}), known_);
    EXPECT_EQ(integer(*inventory_, "SELECT count(*) FROM taken"), 1) << "it is paused still";
    orders.resume("inventory");
    orders.requeue(first_);
    auto nobody = options("nobody");
    node late{nobody};
    std::atomic<int> came = 0;
    late.handle("Take", [&](context&, const message&) { ++came; });
    late.start();
    EXPECT_TRUE(eventually([&] { return orders.stats().pending == 1; })) << "it has ten hours yet";
    EXPECT_EQ(came, 1);
    EXPECT_EQ(database(path("inventory")).lines("SELECT body FROM taken WHERE body LIKE '%after%'"),
              "{\"n\":\"after 1\"}\n{\"n\":\"after 2\"}\n");
    EXPECT_EQ(integer(*inventory_, "SELECT count(*) FROM taken"), 5);
    EXPECT_EQ(integer(*inventory_, "SELECT count(*) FROM taken WHERE body LIKE '%bytes'"), 1);
    orders.send("inventory", "Take", "{}");
    EXPECT_EQ(
        integer(orders, "SELECT min(seq) FROM outbox_messages WHERE seq > " + std::to_string(last)),
        last + 1);
    EXPECT_EQ(orders.stats().dead, 0);
}

TEST_F(move, leaves_a_file_on_which_nobody_starts_and_into_which_nobody_writes) {
    fill();
    const auto done = migrate({test::postgres_url(), "--schema", place_.schema(), "--json"});
    ASSERT_EQ(done.end.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(R"({"table":"outbox_messages","rows":9,)"));
    EXPECT_THAT(done.out, testing::Not(HasSubstr("posthorn:posthorn")));
    EXPECT_THAT(refusal(), HasSubstr("was moved to postgresql://"));
    EXPECT_THAT(refusal(), testing::Not(HasSubstr("posthorn:posthorn")));
    EXPECT_THROW(database(file()).run("INSERT INTO outbox_messages (destination, endpoint, payload)"
                                      " VALUES ('inventory', 'Take', '{}')"),
                 std::runtime_error);
    const auto looked = test::run_process({POSTHORN_PROGRAM, "doctor", "--database", file()});
    EXPECT_EQ(looked.end.exit_code, 1);
    EXPECT_THAT(looked.out, HasSubstr("was moved to postgresql://"));
    const auto again = migrate();
    EXPECT_EQ(again.end.exit_code, 1);
    EXPECT_THAT(again.err, HasSubstr("already"));

    const auto elsewhere = migrate({test::postgres_url(), "--schema", "elsewhere", "--undo"});
    EXPECT_EQ(elsewhere.end.exit_code, 2);
    EXPECT_THAT(elsewhere.err, HasSubstr("name that URL, and its schema"));
    EXPECT_THAT(refusal(), HasSubstr("was moved to"));
    const auto too_early = migrate({test::postgres_url(), "--schema", place_.schema(), "--undo"});
    EXPECT_EQ(too_early.end.exit_code, 1);
    EXPECT_THAT(too_early.err, HasSubstr("DROP SCHEMA"));
    test::postgres_client().run("DROP SCHEMA " + place_.schema() + " CASCADE");
    const auto undone = migrate({test::postgres_url(), "--schema", place_.schema(), "--undo"});
    EXPECT_EQ(undone.end.exit_code, 0) << undone.err;
    EXPECT_EQ(refusal(), "");
    EXPECT_EQ(migrate().end.exit_code, 0);
}

// Where it is in the way of the copy, it stands still there: before the first table, amid them, at
// the last one.
TEST_F(move, that_is_killed_at_any_moment_is_run_again) {
    fill();
    ASSERT_EQ(migrate().end.exit_code, 0);
    ASSERT_EQ(migrate({"--undo"}).end.exit_code, 0);
    const auto all = on_server("SELECT count(*) FROM outbox_messages");
    for (const auto* const table :
         {"outbox_messages", "outbox_causes", "inbox_messages", "changes"}) {
        test::postgres_client in_the_way(place_.url());
        empty_and_lock(in_the_way, table);
        test::process copying({POSTHORN_PROGRAM, "migrate", "sqlite:" + file(),
                               test::postgres_url(), "--schema", place_.schema()});
        const auto backend = backend_behind(in_the_way);
        ASSERT_NE(backend, "") << table;
        if (std::string(table) == "changes") {
            const auto other = migrate();
            EXPECT_EQ(other.end.exit_code, 1);
            EXPECT_THAT(other.err, HasSubstr("open"));
            EXPECT_THROW(node{orders_on(place_.url())}, error) << "while it is copied";
        }
        copying.send_signal(SIGKILL);
        ASSERT_TRUE(copying.wait());
        EXPECT_EQ(on_server("SELECT count(*) FROM outbox_messages"), "0");
        EXPECT_THAT(refusal(), HasSubstr("was cut off"));
        in_the_way.run("ROLLBACK");
        // The server needs a moment to notice that nobody is there.
        ASSERT_TRUE(eventually([&] {
            return on_server("SELECT count(*) FROM pg_stat_activity WHERE pid = " + backend) == "0";
        }));
        const auto elsewhere = migrate({test::postgres_url(), "--schema", "elsewhere"});
        EXPECT_EQ(elsewhere.end.exit_code, 1);
        EXPECT_THAT(elsewhere.err, HasSubstr("run it again with that URL"));
        const auto again = migrate();
        ASSERT_EQ(again.end.exit_code, 0) << again.err;
        EXPECT_EQ(on_server("SELECT count(*) FROM outbox_messages"), all);
        ASSERT_EQ(migrate({"--undo"}).end.exit_code, 0);
    }
}

TEST_F(move, that_was_complete_but_for_its_last_word_is_only_finished) {
    fill();
    ASSERT_EQ(migrate().end.exit_code, 0);
    database(file()).run("UPDATE posthorn_meta SET value = 'copying' WHERE name = 'move_state'");
    EXPECT_THAT(refusal(), HasSubstr("was cut off"));
    {
        node orders{orders_on(place_.url())};  // It may be in use already.
        orders.resume("inventory");
        orders.start();
        EXPECT_TRUE(eventually([&] { return orders.stats().sent > 1; }));
    }
    const auto again = migrate();
    EXPECT_EQ(again.end.exit_code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("complete already"));
    EXPECT_THAT(refusal(), HasSubstr("was moved to"));
}

TEST_F(move, whose_server_is_lost_leaves_the_file_as_it_was) {
    fill();
    ASSERT_EQ(migrate().end.exit_code, 0);
    ASSERT_EQ(migrate({"--undo"}).end.exit_code, 0);
    test::postgres_client in_the_way(place_.url());
    empty_and_lock(in_the_way, "inbox_messages");
    test::process copying({POSTHORN_PROGRAM, "migrate", "sqlite:" + file(), test::postgres_url(),
                           "--schema", place_.schema()});
    const auto backend = backend_behind(in_the_way);
    ASSERT_NE(backend, "");
    EXPECT_EQ(on_server("SELECT pg_terminate_backend(" + backend + ")"), "t");
    const auto end = copying.wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 1);
    EXPECT_THAT(copying.err(), HasSubstr("connection"));
    EXPECT_EQ(refusal(), "");
}

TEST_F(move, refuses_what_cannot_be_moved_and_changes_nothing) {
    fill();
    const auto refused = [&](const std::string& why) {
        const auto done = migrate();
        EXPECT_EQ(done.end.exit_code, 1);
        EXPECT_THAT(done.err, HasSubstr(why));
        EXPECT_EQ(on_server("SELECT count(*) FROM pg_class WHERE relname = 'outbox_messages' AND"
                            " relnamespace = to_regnamespace('" +
                            place_.schema() + "')"),
                  "0")
            << why;
    };
    {
        node orders{orders_on(file())};
        orders.start();
        refused("stop the node");
    }
    const std::string newest =
        "folder = 'store' AND number = (SELECT max(number) FROM"
        " posthorn_migrations WHERE folder = 'store')";
    const auto step = [&](const std::string& change) {
        database(file()).run("UPDATE posthorn_migrations SET number = number " + change +
                             " WHERE " + newest);
    };
    step("+ 1");
    refused("newer Posthorn");
    step("- 1");
    const auto number =
        database(file()).text("SELECT max(number) FROM posthorn_migrations WHERE folder = 'store'");
    database(file()).run("DELETE FROM posthorn_migrations WHERE " + newest);
    refused("up to date");
    database(file()).run("INSERT INTO posthorn_migrations VALUES ('store', " + number + ", 0)");
    {
        std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
        damaged.seekp(3 * 4096);
        damaged << std::string(4096, 'x');
    }
    refused("is damaged");
    EXPECT_EQ(migrate({"mysql://a"}).end.exit_code, 2);
}

TEST_F(move, refuses_a_schema_that_is_in_use_or_is_not_empty) {
    fill();
    {
        const node other{orders_on(place_.url())};
        const auto in_use = migrate();
        EXPECT_EQ(in_use.end.exit_code, 1);
        EXPECT_THAT(in_use.err, HasSubstr("of the server is in use by"));
    }
    EXPECT_EQ(refusal(), "");
    test::postgres_client plain(place_.url());
    plain.run(
        "INSERT INTO outbox_messages (destination, endpoint, payload) VALUES ('a', 'B', '{}')");
    const auto full = migrate();
    EXPECT_EQ(full.end.exit_code, 1);
    EXPECT_THAT(full.err, HasSubstr("is not empty: outbox_messages has rows"));
    plain.run(
        "DELETE FROM outbox_messages; UPDATE posthorn_meta SET value = 'billing'"
        " WHERE name = 'service'");
    EXPECT_THAT(migrate().err, HasSubstr("belongs to the service 'billing'"));
    plain.run("UPDATE posthorn_meta SET value = 'orders' WHERE name = 'service'");
    EXPECT_EQ(refusal(), "");
    const auto done = migrate();
    EXPECT_EQ(done.end.exit_code, 0) << done.err;
}

// So that a table that is added later is not forgotten.
TEST_F(move, takes_along_what_a_site_holds_and_where_it_stands) {
    {
        node site{orders_on(file())};
        site.forward_handler("Samples", [](const forward_message&) { return true; });
        site.start();  // Categories are written down.
        site.stop();
    }
    database here(file());
    here.run(
        "INSERT INTO sf_messages (category, target, payload_json) VALUES (0, 'erp', '{}'),"
        " (0, 'erp', '{}'), (3, 'historian', '{}')");
    here.run(
        "UPDATE outbox_messages SET status = 'Dead' WHERE seq ="
        " (SELECT min(seq) FROM forward_messages)");
    here.close();
    const auto done = migrate();
    ASSERT_EQ(done.end.exit_code, 0) << done.err;
    EXPECT_EQ(
        on_server("SELECT string_agg(category || ':' || status, ' ' ORDER BY category, status)"
                  " FROM sf_messages"),
        "0:0 0:2 3:0");
    EXPECT_EQ(on_server("SELECT string_agg(Kind || ' ' || Status, ', ' ORDER BY Kind, Status)"
                        " FROM OperationTracking"),
              "ExternalSystem Parked, ExternalSystem Submitted, Samples Submitted");
    EXPECT_EQ(on_server("SELECT sum(waiting) || ' ' || sum(parked) || ' ' || sum(bytes)"
                        " FROM forward_totals"),
              "2 1 6");
}

TEST_F(move, knows_every_table_of_the_file) {
    fill();
    const auto done = migrate({test::postgres_url(), "--schema", place_.schema(), "--json"});
    ASSERT_EQ(done.end.exit_code, 0) << done.err;
    const auto names = database(file()).lines(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name"
        " NOT IN ('mine', 'posthorn_migrations')");
    std::istringstream lines(names);
    for (std::string name; std::getline(lines, name);)
        EXPECT_THAT(done.out, HasSubstr("\"table\":\"" + name + "\"")) << name;
}

}  // namespace
}  // namespace posthorn::integration
