#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/virtual_loop.hpp"
#include "base/random.hpp"
#include "base/uuid_generator.hpp"
#include "history/history_keeper.hpp"
#include "history/history_table.hpp"
#include "store/async.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {

/// A keeper over a real database under virtual time. Its clock begins with a minute.
class history_fixture : public testing::Test {
protected:
    history_fixture() {
        auto opened = sqlite::open(
            {.path = folder_.file("orders.db"), .service = "orders", .above = {history_tables()}},
            {.time = loop.time(), .writer = inline_, .log = log});
        if (!opened) throw error(opened.error());
        database_ = *std::move(opened);
        const auto minute = std::chrono::ceil<std::chrono::minutes>(loop.time().wall());
        loop.run_for(minute - loop.time().wall());
    }
    ~history_fixture() override {
        stop();
        database_->stop();
    }

    class store& store() { return *database_; }

    void start(std::string node = "one") {
        with.emplace(history_deps{.env = env,
                                  .where = *database_,
                                  .outboxes = {database_.get()},
                                  .counters = {&counters},
                                  .inbox = {},
                                  .node = std::move(node),
                                  .names_max = 4});
        keeper.emplace(*with);
        running_.emplace(loop.executor());
        running_->spawn(keeper->run());
        loop.settle();
    }
    void stop() {
        if (!running_) return;
        running_->cancel();
        loop.run(running_->join());
        running_.reset();
    }

    void sent(std::string_view destination, std::uint64_t number) {
        destination_counts more{.sent = number};
        more.took[duration_part(200)] = number;
        counters.destinations.add(destination, more);
    }
    void enqueue(std::string destination) {
        message body;
        body.id = ids.next();
        body.destination = std::move(destination);
        body.endpoint = "Charge";
        body.payload = "1";
        body.created_at = loop.time().wall();
        body.expires_at = body.created_at + std::chrono::hours{24};
        run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.outbox().insert(body));
            return {};
        });
    }
    void change(std::string sql) {
        run([&](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute(sql, {}));
            return {};
        });
    }
    void run(unit::work_type work) {
        const auto done = loop.run(commit(*database_, std::move(work)));
        ASSERT_TRUE(done) << done.error().what();
    }
    std::int64_t number(const std::string& sql) {
        std::int64_t found = -1;
        EXPECT_TRUE(store().read([&](store_reader& from) {
            return from.query(sql, {}, [&](const sql_row& row) { found = row.integer(0); });
        }));
        return found;
    }
    std::int64_t rows(int step) {
        return number("SELECT count(*) FROM posthorn_history WHERE step = " + std::to_string(step));
    }

    virtual_loop loop;
    seeded_random random{3};
    uuid_generator ids{[this] { return loop.time().wall(); }, random};
    std::vector<std::string> lines;
    logger log{{.level = log_level::info,
                .sink = [this](std::string_view line) { lines.emplace_back(line); }},
               [this] { return loop.time().wall(); }};
    test::test_environment env{loop, log};
    outbox_counters counters;
    std::optional<history_deps> with;
    std::optional<history_keeper> keeper;

private:
    test::temporary_directory folder_;
    inline_executor inline_;
    std::unique_ptr<class store> database_;
    std::optional<task_group> running_;
};

}  // namespace posthorn
