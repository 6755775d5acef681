// When a file is written anew.
#include "outbox/upkeep/vacuum.hpp"

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/sqlite_file.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(weekly_vacuum, is_due_after_a_week_in_a_quiet_minute_and_after_eight_days_in_any) {
    struct row {
        const char* what;
        std::chrono::hours age;
        std::uint64_t units_lately;
        bool due;
    };
    const row table[] = {
        {"just done", 0h, 0, false},
        {"not yet", 24h * 7 - 1h, 0, false},
        {"a week, quiet", 24h * 7, 0, true},
        {"a week, nearly quiet", 24h * 7, 299, true},
        {"a week, but busy", 24h * 7, 300, false},
        {"nearly eight days, busy", 24h * 8 - 1h, 100'000, false},
        {"eight days, busy", 24h * 8, 100'000, true},
        {"a clock that went back", -24h * 30, 0, false},
    };
    const wall_time last{1'900'000'000'000ms};
    for (const auto& [what, age, units, due] : table)
        EXPECT_EQ(is_vacuum_due({last, last + age, units}), due) << what;
}

/// On a real file under virtual time.
class weekly_vacuum_test : public ::testing::Test {
protected:
    weekly_vacuum_test() {
        auto opened = sqlite::open({.path = path, .service = "orders"},
                                   {.time = loop.time(), .writer = inline_, .log = log});
        EXPECT_TRUE(opened);
        store = *std::move(opened);
        submit("CREATE TABLE mine (text TEXT)");
        submit("INSERT INTO mine VALUES (zeroblob(2000000))");
        submit("DELETE FROM mine");
        running.spawn(vacuum().run());
    }
    ~weekly_vacuum_test() override {
        running.cancel();
        loop.run(running.join());
        store->stop();
    }

    weekly_vacuum& vacuum() {
        if (!vacuum_) vacuum_.emplace(env_, *store, *store->upkeep());
        return *vacuum_;
    }
    void submit(const std::string& sql) {
        store->submit({.work = [sql](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.execute(sql, {}));
            return {};
        }});
    }
    std::int64_t free_pages() { return test::sqlite_file(path).integer("PRAGMA freelist_count"); }

    test::temporary_directory place;
    std::string path = place.file("orders.db");
    virtual_loop loop;
    logger log = logger::null();
    inline_executor inline_;  // The writer, which a worker waits for.
    test::test_environment env_{loop, log};
    std::unique_ptr<class store> store;
    std::optional<weekly_vacuum> vacuum_;
    task_group running{loop.executor()};
};

TEST_F(weekly_vacuum_test, writes_the_file_anew_after_a_week_and_remembers_when) {
    loop.run_for(24h * 7);
    EXPECT_GT(free_pages(), 400);
    loop.run_for(2min);
    EXPECT_EQ(free_pages(), 0);
    const auto done = test::sqlite_file(path).integer(
        "SELECT value FROM posthorn_meta WHERE name = 'vacuumed_at'");
    EXPECT_GT(done, (loop.time().wall() - 3min).time_since_epoch().count());
    submit("INSERT INTO mine VALUES ('it goes on')");
    EXPECT_EQ(test::sqlite_file(path).integer("SELECT count(*) FROM mine"), 1);
}

TEST_F(weekly_vacuum_test, waits_while_there_is_much_to_do) {
    const auto be_busy_for = [&](std::chrono::minutes span) {
        for (auto passed = 0min; passed < span; passed += 1min) {
            for (int i = 0; i < 400; ++i)
                store->submit({.work = [](store_transaction&) -> result<> { return {}; }});
            loop.run_for(1min);
        }
    };
    loop.run_for(24h * 7 - 5min);
    be_busy_for(20min);
    EXPECT_GT(free_pages(), 400);
    loop.run_for(2min);  // A quiet one.
    EXPECT_EQ(free_pages(), 0);
}

}  // namespace
}  // namespace posthorn
