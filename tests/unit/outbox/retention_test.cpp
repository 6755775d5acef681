// Rows are deleted by their age, which a clock that has jumped does not know.
#include "outbox/retention.hpp"

#include <gtest/gtest.h>

#include "base/task_group.hpp"
#include "base/virtual_loop.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class outbox_retention_test : public ::testing::Test {
protected:
    outbox_retention_test() { running.spawn(retention.run()); }
    ~outbox_retention_test() override {
        running.cancel();
        loop.run_for(1ms);
    }

    virtual_loop loop;
    testing::memory_store store{loop.time()};
    logger log = logger::null();
    outbox_retention retention{store, loop.time(), loop.time(), log, {}};
    task_group running{loop.executor()};
};

TEST_F(outbox_retention_test, looks_for_old_rows_every_five_minutes) {
    loop.run_for(4min);
    EXPECT_EQ(store.tables.purges, 0);
    loop.run_for(7min);
    EXPECT_EQ(store.tables.purges, 2);
}

TEST_F(outbox_retention_test, deletes_nothing_for_an_hour_after_the_clock_has_jumped) {
    loop.run_for(6min);
    loop.time().jump_wall(365 * 24h);
    loop.run_for(55min);
    EXPECT_EQ(store.tables.purges, 1);
    loop.run_for(30min);
    EXPECT_GT(store.tables.purges, 1);
}

}  // namespace
}  // namespace posthorn
