#include "store/sqlite/upkeep/backup_keeper.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "store/sqlite/driver/backup_files.hpp"
#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class a_backup_keeper : public a_service {
protected:
    void start() { running.spawn(keeper.run()); }
    ~a_backup_keeper() override {
        keeper.stop();
        running.cancel();
        loop.run_for(1ms);
    }
    [[nodiscard]] std::vector<backup_file> made() const {
        return list_backups(folder_, database_).value();
    }

    virtual_loop loop;
    inline_executor thread;
    backup_keeper keeper{{database_, "orders"},
                         {.folder = folder_, .every = 1h, .keep = 3h},
                         {loop.time(), loop.time(), thread, log_}};
    task_group running{loop.executor()};
};

TEST_F(a_backup_keeper, makes_one_at_once_and_then_each_interval) {
    start();
    loop.run_for(1min);
    EXPECT_EQ(made().size(), 1U);
    loop.run_for(2h);
    EXPECT_EQ(made().size(), 3U);
    EXPECT_EQ(keeper.state().made, 3U);
    EXPECT_EQ(keeper.state().newest, loop.time().wall() - 1min);
    EXPECT_EQ(keeper.state().last_error, "");
}

TEST_F(a_backup_keeper, waits_for_its_turn_after_a_restart) {
    std::filesystem::create_directory(folder_);
    std::ofstream(folder_ / backup_name(database_, loop.time().wall() - 40min)) << "x";
    start();
    loop.run_for(19min);
    EXPECT_EQ(keeper.state().made, 0U);
    EXPECT_EQ(keeper.state().newest, loop.time().wall() - 59min);
    loop.run_for(2min);
    EXPECT_EQ(keeper.state().made, 1U);
}

TEST_F(a_backup_keeper, removes_what_is_older_than_it_keeps) {
    start();
    loop.run_for(10h + 1min);
    EXPECT_EQ(made().size(), 3U);
    EXPECT_EQ(made().front().taken_at, loop.time().wall() - 2h - 1min);
}

TEST_F(a_backup_keeper, removes_nothing_after_the_clock_has_jumped) {
    start();
    loop.run_for(2h + 1min);
    loop.time().jump_wall(365 * 24h);
    loop.run_for(30min);
    loop.run_for(30min);
    EXPECT_EQ(made().size(), 4U);
}

TEST_F(a_backup_keeper, tells_of_a_failure_and_tries_again_soon) {
    std::ofstream(folder_.string()) << "a file where the folder should be";
    start();
    loop.run_for(1min);
    EXPECT_EQ(keeper.state().failed, 1U);
    EXPECT_THAT(keeper.state().last_error, HasSubstr(folder_.string()));
    std::filesystem::remove(folder_);
    loop.run_for(5min);
    EXPECT_EQ(keeper.state().made, 1U);
    EXPECT_EQ(keeper.state().last_error, "");
}

TEST_F(a_backup_keeper, that_is_stopped_makes_no_more) {
    keeper.stop();
    start();
    loop.run_for(2h);
    EXPECT_EQ(made().size(), 0U);
    EXPECT_EQ(keeper.state().failed, 0U);
}

}  // namespace
}  // namespace posthorn::sqlite
