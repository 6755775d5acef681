// Rows of every type and extreme in the tables of workflows, and triggers that are in their way: the
// workflows beside them go on, and what waits is named.
#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/row_fuzz.hpp"
#include "support/sqlite_file.hpp"
#include "unit/engine/shop.hpp"

namespace shop {
namespace {

using namespace std::chrono_literals;

workflow<std::string> listens(flow<>& f, std::string id) {
    const auto heard = co_await f.wait(the<&decided::order_id> == id);
    co_return heard.by;
}
POSTHORN_WORKFLOW(listens, "Listens", 1)

workflow<std::string> rests(flow<>& f) {
    co_await f.sleep(1ms);
    co_return "rested";
}
POSTHORN_WORKFLOW(rests, "Rests", 1)

workflow<std::int64_t> begun(flow<>&, order_placed what) { co_return what.cents; }
POSTHORN_WORKFLOW(begun, "Begun", 1)

/// Something of everything that a workflow has a table for.
workflow<std::string> has_everything(flow<>& f, std::string id) {
    co_await f.call<stock>(reserve{id});
    const auto number = co_await f.run([](const posthorn::uuid&) -> std::int64_t { return 7; });
    co_await f.sleep(1ms);
    co_await f.transact([id](posthorn::transaction& tx) {
        tx.execute("INSERT INTO counted VALUES (?)", id);
        return std::int64_t{1};
    });
    const auto heard = co_await f.wait(the<&decided::order_id> == id);
    co_return heard.by + std::to_string(number);
}
POSTHORN_WORKFLOW(has_everything, "HasEverything", 1)

}  // namespace
}  // namespace shop

namespace posthorn {
namespace {

using namespace shop;

class workflows_with_odd_rows : public engine_test {
protected:
    workflows_with_odd_rows() {
        run(shop_node, "CREATE TABLE counted (key TEXT)");
        run(stock_node, "CREATE TABLE counted (key TEXT)");
        stock_node.handle("stock/v1/Reserve", [](context& tx, const message& received) {
            tx.execute("INSERT INTO counted VALUES (?)", received.payload);
            return std::string();
        });
        shop_node.add(listens);
        shop_node.add(rests);
        shop_node.add(begun, {.starts_on = the<&order_placed::id>});
        shop_node.add(has_everything);
        stock_node.start();
        shop_node.start();
    }
    test::sqlite_file& file() {
        if (!file_) {
            file_.emplace(directory.file("shop.db"));
            file_->run("PRAGMA busy_timeout = 10000");
        }
        return *file_;
    }
    std::vector<std::string> describe() {
        return test::split_at(file().lines(test::describe_in_file("t.name LIKE 'workflow%'")),
                              '\n');
    }
    bool write(const std::string& sql) {
        try {
            file().run(sql);
            return true;
        } catch (const std::runtime_error&) {
            return false;
        }
    }
    [[nodiscard]] bool is_worried(std::string_view what) {
        return test::eventually([&] {
            const auto seen = shop_node.health().reasons;
            return std::ranges::any_of(
                seen, [&](const std::string& each) { return each.contains(what); });
        });
    }
    [[nodiscard]] bool has_no_worries() {
        return test::eventually([&] { return shop_node.health().reasons.empty(); });
    }

    node stock_node{options("stock")};
    node shop_node{options("shop")};

private:
    std::optional<test::sqlite_file> file_;
};

TEST_F(workflows_with_odd_rows, go_on_beside_them) {
    test::row_fuzz rows(20'261'118, test::row_fuzz::database::sqlite);
    int accepted = 0;
    for (int i = 0; i < 400; ++i)
        accepted += write(rows.workflow_row("Listens", "Decided")) ? 1 : 0;
    EXPECT_GT(accepted, 100);
    EXPECT_LT(accepted, 400);
    // Whenever it looks, the last that is due is of no workflow.
    ASSERT_TRUE(
        write("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1500)"
              " INSERT INTO workflow_timers SELECT"
              " CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + i, 0, i FROM n"));
    shop_node.transact([](transaction& tx) {
        tx.start(listens, "good", "good");
        tx.start(rests, "good");
    });
    stock_node.send("shop", order_placed{"good", 12});
    ASSERT_TRUE(ends_as(shop_node, rests, "good", flow_status::completed)) << logged();
    ASSERT_TRUE(ends_as(shop_node, begun, "good", flow_status::completed)) << logged();
    ASSERT_TRUE(becomes(shop_node, listens, "good",
                        [](const workflow_view& seen) { return seen.steps == 1; }));
    shop_node.signal(decided{"good", "ann", true, 1});
    ASSERT_TRUE(ends_as(shop_node, listens, "good", flow_status::completed)) << logged();
    // What could be dealt with was.
    EXPECT_TRUE(test::eventually([&] {
        return number(shop_node,
                      "SELECT count(*) FROM workflow_signals WHERE matched_at IS NULL") == 0;
    }));
    EXPECT_TRUE(test::eventually([&] {
        return number(shop_node, "SELECT count(*) FROM workflow_timers WHERE due_at <= 1000") == 0;
    }));
    shop_node.stop();
    node again(options("shop"));  // It starts with them, too.
    again.add(rests);
    again.start();
    again.transact([](transaction& tx) { tx.start(rests, "later"); });
    ASSERT_TRUE(ends_as(again, rests, "later", flow_status::completed)) << logged();
}

TEST_F(workflows_with_odd_rows, go_on_beside_those_that_a_program_changes) {
    const auto tables = test::read_tables(describe());
    ASSERT_EQ(tables.size(), 13U);
    test::row_fuzz rows(20'261'120, test::row_fuzz::database::sqlite);
    const auto names = std::to_array<std::string>({"a", "b", "c"});
    shop_node.transact([&](transaction& tx) {
        for (const auto& id : names) {
            tx.start(has_everything, "odd-" + id, "odd-" + id);
            tx.start(listens, "odd-" + id, "odd-" + id);
            tx.signal(decided{"early-" + id, "ann", true, 1});
        }
    });
    for (const auto& id : names)
        ASSERT_TRUE(becomes(shop_node, listens, "odd-" + id,
                            [](const workflow_view& seen) { return seen.steps == 1; }));
    int round = 0;
    for (const auto& [name, table] : tables) {
        SCOPED_TRACE(name);
        for (std::size_t at = 0; at < table.columns.size(); ++at)
            for (int i = 0; i < 3; ++i) {
                write(rows.row_like_others(table, at));
                // What has the number of a workflow to come would be in its way for good reason.
                if (table.columns[at].name != "instance") write(rows.update(table, "1 = 1", at));
            }
        const auto id = "good-" + std::to_string(++round);
        shop_node.transact([&](transaction& tx) { tx.start(has_everything, id, id); });
        shop_node.signal(decided{id, "ann", true, 1});
        ASSERT_TRUE(ends_as(shop_node, has_everything, id, flow_status::completed)) << logged();
    }
}

TEST_F(workflows_with_odd_rows, below_1_are_told_and_quarantined) {
    shop_node.stop();
    ASSERT_TRUE(
        write("INSERT INTO workflow_instances (instance, workflow, id) VALUES"
              " (-9223372036854775808, 'Rests', 'low'), (0, 'Rests', 'none')"));
    ASSERT_TRUE(
        write("INSERT INTO workflow_instances (workflow, id, run) VALUES"
              " ('Rests', 'run', 0)"));
    node again(options("shop"));
    again.add(rests);
    again.start();
    for (const auto* const id : {"low", "none", "run"}) {
        EXPECT_TRUE(test::eventually([&] {
            return file().text(std::string("SELECT status FROM workflow_instances WHERE id = '") +
                               id + "'") == "quarantined";
        })) << id;
        EXPECT_TRUE(
            file()
                .text(std::string("SELECT reason FROM workflow_instances WHERE id = '") + id + "'")
                .contains("mend workflow_instances"))
            << id;
    }
    again.transact([](transaction& tx) { tx.start(rests, "good"); });
    EXPECT_TRUE(ends_as(again, rests, "good", flow_status::completed)) << logged();
}

TEST_F(workflows_with_odd_rows, get_what_was_told_with_a_number_below_1) {
    shop_node.stop();
    ASSERT_TRUE(
        write("INSERT INTO workflow_signals (seq, signal, payload) VALUES (-5, 'Decided',"
              " '{\"orderId\":\"low\",\"by\":\"ann\",\"approved\":true,\"level\":1}')"));
    node again(options("shop"));
    again.add(listens);
    again.start();
    ASSERT_TRUE(test::eventually([&] {
        return number(again, "SELECT count(*) FROM workflow_unclaimed WHERE seq = -5") > 0;
    })) << logged();
    again.transact([](transaction& tx) { tx.start(listens, "low", "low"); });
    EXPECT_TRUE(ends_as(again, listens, "low", flow_status::completed)) << logged();
}

TEST_F(workflows_with_odd_rows, do_not_wait_for_a_signal_that_a_trigger_refuses) {
    file().run(
        "CREATE TRIGGER refusing BEFORE UPDATE OF matched_at ON workflow_signals"
        " WHEN OLD.payload LIKE '%bad%' BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    shop_node.transact([](transaction& tx) {
        for (const auto* id : {"bad", "good"}) {
            tx.start(listens, id, id);
            tx.signal(decided{id, "ann", true, 1});
        }
    });
    EXPECT_TRUE(ends_as(shop_node, listens, "good", flow_status::completed)) << logged();
    EXPECT_TRUE(is_worried("signals cannot be given to workflows, and wait: "));
    file().run("DROP TRIGGER refusing");
    EXPECT_TRUE(ends_as(shop_node, listens, "bad", flow_status::completed)) << logged();
    EXPECT_TRUE(has_no_worries());
}

TEST_F(workflows_with_odd_rows, do_not_wait_for_a_sleep_that_a_trigger_does_not_let_end) {
    file().run(
        "CREATE TRIGGER refusing BEFORE INSERT ON workflow_mailbox WHEN NEW.kind = 'elapsed'"
        " AND NEW.instance = 1 BEGIN SELECT RAISE(ABORT, 'not this one'); END");
    shop_node.transact([](transaction& tx) {
        for (const auto* id : {"bad", "good"}) tx.start(rests, id);
    });
    EXPECT_TRUE(ends_as(shop_node, rests, "good", flow_status::completed)) << logged();
    EXPECT_TRUE(is_worried("sleeps of workflows cannot be ended, so these wait: "));
    file().run("DROP TRIGGER refusing");
    EXPECT_TRUE(ends_as(shop_node, rests, "bad", flow_status::completed)) << logged();
    EXPECT_TRUE(has_no_worries());
}

// With one table after the other like that: what was promised is done, once; it may take until the
// trigger is gone.
TEST_F(workflows_with_odd_rows, lose_nothing_to_triggers_that_let_changes_vanish) {
    const auto tables =
        std::to_array<std::string>({"shapes", "instances", "signals", "mailbox", "waits", "timers",
                                    "calls", "runs", "history", "unclaimed"});
    std::set<std::string> promised;
    for (const auto& table : tables)
        for (const auto* change : {"INSERT", "UPDATE", "DELETE"}) {
            SCOPED_TRACE(table + " " + change);
            const auto id = table + "-" + change;
            file().run(
                fmt::format("CREATE TRIGGER hush BEFORE {} ON workflow_{} BEGIN"
                            " SELECT RAISE(IGNORE); END",
                            change, table));
            const auto tell = [&](auto what) {
                try {
                    shop_node.transact(what);
                    return true;
                } catch (const error&) {
                    return false;
                }
            };
            const bool is_started =
                tell([&](transaction& tx) { tx.start(has_everything, id, id); });
            const bool is_told =
                tell([&](transaction& tx) { tx.signal(decided{id, "ann", true, 1}); });
            // What it does meanwhile is done, or has come to nothing.
            tell([](transaction& tx) { tx.execute("INSERT INTO counted VALUES ('meanwhile')"); });
            file().run("DROP TRIGGER hush");
            if (!is_started)
                shop_node.transact([&](transaction& tx) { tx.start(has_everything, id, id); });
            if (!is_told) shop_node.signal(decided{id, "ann", true, 1});
            promised.insert(id);
        }
    for (const auto& id : promised) {
        EXPECT_TRUE(ends_as(shop_node, has_everything, id, flow_status::completed))
            << id << logged();
        EXPECT_EQ(shop_node.find(has_everything, id)->result, R"("ann7")") << id;
    }
    EXPECT_EQ(number(shop_node, "SELECT count(*) FROM counted WHERE key <> 'meanwhile'"),
              std::ssize(promised));
    EXPECT_EQ(number(stock_node, "SELECT count(DISTINCT key) FROM counted"), std::ssize(promised));
    EXPECT_EQ(number(stock_node, "SELECT count(*) FROM counted"), std::ssize(promised));
    EXPECT_TRUE(has_no_worries());
}

}  // namespace
}  // namespace posthorn
