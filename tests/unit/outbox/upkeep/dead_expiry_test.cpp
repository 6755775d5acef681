#include "outbox/upkeep/dead_expiry.hpp"

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "store/sqlite/commit/sqlite_store.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_environment.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class dead_expiry_test : public ::testing::Test {
protected:
    dead_expiry_test()
        : store_(
              value_or_throw(sqlite::open({.path = folder_.file("orders.db"), .service = "orders"},
                                          {.time = loop.time(), .writer = inline_, .log = log_}))) {
    }
    ~dead_expiry_test() override {
        running_.cancel();
        loop.run_for(1ms);
        store_->stop();
    }

    void begin() { running_.spawn(subject_.run()); }
    void bury(std::chrono::milliseconds time_to_live) {
        const auto now = loop.time().wall().time_since_epoch().count();
        run(
            fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload, created_at,"
                        " expires_at) VALUES ('b', 'Charge', '{{}}', {}, {})",
                        now, now + time_to_live.count()));
        run("UPDATE outbox_messages SET status = 'Dead'");
    }
    void run(std::string sql) {
        store_->submit({.work = [sql](store_transaction& tx) -> result<> {
                            POSTHORN_TRY(tx.execute(sql, {}));
                            return {};
                        },
                        .done = [](const result<>& done) { EXPECT_TRUE(done); }});
    }
    std::int64_t expired() {
        std::int64_t count = -1;
        value_or_throw(store_->read([&](store_reader& from) {
            return from.query("SELECT count(*) FROM outbox_messages WHERE status = 'Expired'", {},
                              [&](const sql_row& row) { count = row.integer(0); });
        }));
        return count;
    }

    virtual_loop loop;
    int told = 0;

private:
    test::temporary_directory folder_;
    inline_executor inline_;
    logger log_ = logger::null();
    std::unique_ptr<store> store_;
    clock_guard clocks_{loop.time()};
    test::test_environment env_{loop, log_};
    dead_expiry subject_{env_, *store_, clocks_, [this] { ++told; }};
    task_group running_{loop.executor()};
};

TEST_F(dead_expiry_test, lets_dead_messages_expire_at_their_time) {
    bury(3h);
    bury(30h);
    begin();
    loop.run_for(3h - 2min);
    EXPECT_EQ(expired(), 0);
    EXPECT_EQ(told, 0);
    loop.run_for(4min);
    EXPECT_EQ(expired(), 1);
    EXPECT_EQ(told, 1);
}

TEST_F(dead_expiry_test, takes_more_than_one_slice_in_one_look) {
    for (int i = 0; i < 150; ++i) bury(2h);
    begin();
    loop.run_for(2h + 2min);
    EXPECT_EQ(expired(), 150);
}

TEST_F(dead_expiry_test, believes_no_clock_that_has_jumped) {
    bury(10h);
    begin();
    loop.run_for(2h);
    loop.time().jump_wall(365 * 24h);
    loop.run_for(10min);
    EXPECT_EQ(expired(), 0);
    loop.run_for(2h);
    EXPECT_EQ(expired(), 1);
}

}  // namespace
}  // namespace posthorn
