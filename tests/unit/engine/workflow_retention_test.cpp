#include "engine/workflow_retention.hpp"

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "engine/rows/engine_tables.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class workflow_retention_test : public testing::Test {
protected:
    workflow_retention_test() {
        auto opened = sqlite::open(
            {.path = folder.file("shop.db"), .service = "shop", .above = {engine_tables()}},
            {.time = loop.time(), .writer = at_once, .log = log});
        if (!opened) throw error(opened.error());
        database = *std::move(opened);
    }
    ~workflow_retention_test() override {
        running.cancel();
        loop.run_for(1ms);
        database->stop();
    }

    /// Runs it for long enough to look once.
    void look_once(const workflow_retention_options& options = {}) {
        retention.emplace(env, *database, options);
        running.spawn(retention->run());
        loop.run_for(5min + 10s);
    }
    void run(const std::string& sql) {
        const auto done = loop.run(commit(*database, [&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(change(tx, sql));
            return {};
        }));
        if (!done) throw error(done.error());
    }
    /// Ended so many hours ago.
    void add_ended(const std::string& status, int hours) {
        const auto at = (loop.time().wall() - std::chrono::hours(hours)).time_since_epoch();
        run(
            fmt::format("INSERT INTO workflow_instances (workflow, id, status, ended_at) VALUES"
                        " ('W', '{}-{}', '{}', {})",
                        status, hours, status, at.count()));
        run("INSERT INTO workflow_history (instance, run, step, at, version, cause, command,"
            " payload, did) SELECT max(instance), 1, 1, 0, 1, 'start', 0, '', ''"
            " FROM workflow_instances");
    }
    std::string left(const std::string& sql = "SELECT id FROM workflow_instances ORDER BY id") {
        std::string found;
        EXPECT_TRUE(database->read([&](store_reader& from) {
            return ask(from, sql,
                       [&](const sql_row& row) { found += std::string(row.text(0)) + " "; });
        }));
        return found;
    }

    virtual_loop loop;
    logger log = logger::null();
    inline_executor at_once;
    test::temporary_directory folder;
    test::test_environment env{loop, log};
    std::unique_ptr<store> database;
    std::optional<workflow_retention> retention;
    task_group running{loop.executor()};
};

TEST_F(workflow_retention_test, keeps_each_kind_of_end_for_its_own_time) {
    for (const int hours : {1, 3, 5})
        for (const auto* status : {"completed", "cancelled", "failed"}) add_ended(status, hours);
    run("INSERT INTO workflow_instances (workflow, id, status) VALUES ('W', 'open', 'running')");
    look_once({.completed = 2h, .cancelled = 4h, .failed = {}});
    EXPECT_EQ(left(), "cancelled-1 cancelled-3 completed-1 failed-1 failed-3 failed-5 open ");
    EXPECT_EQ(left("SELECT count(*) FROM workflow_history"), "6 ");
}

TEST_F(workflow_retention_test, deletes_many_in_slices) {
    run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        " INSERT INTO workflow_instances (workflow, id, status, ended_at)"
        " SELECT 'W', 'i' || i, 'completed', 0 FROM n");
    run("INSERT INTO workflow_history (instance, run, step, at, version, cause, command, payload,"
        " did) SELECT instance, 1, s.step, 0, 1, 'start', 0, '', '' FROM workflow_instances,"
        " (SELECT 1 AS step UNION SELECT 2 UNION SELECT 3) s");
    look_once();
    EXPECT_EQ(left(), "");
    EXPECT_EQ(left("SELECT count(*) FROM workflow_history"), "0 ");
}

TEST_F(workflow_retention_test, deletes_old_signals_but_what_may_still_be_taken) {
    const auto now = loop.time().wall().time_since_epoch().count();
    run(
        fmt::format("INSERT INTO workflow_signals (signal, payload, received_at, matched_at) VALUES"
                    " ('spent', '{{}}', 0, 1), ('new', '{{}}', {}, 1), ('unmatched', '{{}}', 0,"
                    " NULL), ('unclaimed', '{{}}', 0, 1), ('mailed', '{{}}', 0, 1)",
                    now));
    run("INSERT INTO workflow_unclaimed SELECT signal, '', '', seq, 0, 9e15 FROM workflow_signals"
        " WHERE signal = 'unclaimed'");
    run("INSERT INTO workflow_mailbox (instance, kind, signal) SELECT 1, 'signalled', seq"
        " FROM workflow_signals WHERE signal = 'mailed'");
    look_once();
    EXPECT_EQ(left("SELECT signal FROM workflow_signals ORDER BY signal"),
              "mailed new unclaimed unmatched ");
}

TEST_F(workflow_retention_test, deletes_nothing_while_the_clock_has_jumped) {
    add_ended("completed", 1);
    retention.emplace(env, *database, workflow_retention_options{});
    running.spawn(retention->run());
    loop.run_for(1min);
    loop.time().jump_wall(400 * 24h);
    loop.run_for(6min);
    EXPECT_EQ(left(), "completed-1 ");
}

}  // namespace
}  // namespace posthorn
