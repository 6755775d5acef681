#include "outbox/dispatch/seat_reaper.hpp"

#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_loop.hpp"
#include "support/test_environment.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

class a_seat_watch : public ::testing::Test {
protected:
    a_seat_watch() {
        store.is_shared = true;
        tables.seats = {{"dispatcher/us", {.owner = "us", .epoch = 1}},
                        {"dispatcher/them", {.owner = "them", .epoch = 2}}};
        group_.spawn(watch_.run());
        loop.settle();
    }
    ~a_seat_watch() override {
        group_.cancel();
        loop.run(group_.join());
    }
    [[nodiscard]] std::size_t seats() const { return tables.seats.size(); }
    void beat() { ++tables.seats.back().held.beat; }

    virtual_loop loop;
    test::memory_store store{loop.time()};
    test::memory_tables& tables = store.tables;
    std::string dead;  // The owner whose process is known to be gone.
    int freed = 0;

private:
    logger log_ = logger::null();
    lease_options options_{.owner = "us"};
    std::function<bool(const std::string&)> is_gone_ = [this](const std::string& owner) {
        return owner == dead;
    };
    test::test_environment env_{loop, log_};
    seat_reaper watch_{{env_, store, is_gone_, [this] { ++freed; }}, options_};
    task_group group_{loop.executor()};
};

TEST_F(a_seat_watch, leaves_one_that_beats_alone) {
    for (int i = 0; i < 20; ++i) {
        loop.run_for(3s);
        beat();
    }
    EXPECT_EQ(seats(), 2U);
    EXPECT_EQ(freed, 0);
}

TEST_F(a_seat_watch, takes_the_seat_of_a_silent_one_away_after_its_lease_and_not_before) {
    loop.run_for(9s);
    EXPECT_EQ(seats(), 2U);
    loop.run_for(2s);
    ASSERT_EQ(seats(), 1U);
    EXPECT_EQ(tables.seats[0].held.owner, "us") << "ours, which is silent too, is not its concern";
    EXPECT_EQ(freed, 1);
}

TEST_F(a_seat_watch, tries_again_soon_if_a_seat_cannot_be_taken_away_yet) {
    tables.seats_are_locked = true;
    loop.run_for(30s);
    EXPECT_EQ(seats(), 2U);
    EXPECT_EQ(freed, 0);
    tables.seats_are_locked = false;
    loop.run_for(1s);
    EXPECT_EQ(seats(), 1U);
    loop.run_for(1min);
    EXPECT_EQ(freed, 1);
}

TEST_F(a_seat_watch, tells_of_a_dead_one_only_when_its_seat_is_free) {
    tables.seats_are_locked = true;
    dead = "them";
    loop.run_for(10s);
    EXPECT_EQ(freed, 0);
    tables.seats_are_locked = false;
    loop.run_for(10s);
    EXPECT_EQ(freed, 1);
}

TEST_F(a_seat_watch, does_not_wait_for_one_whose_process_is_known_to_be_dead) {
    dead = "them";
    loop.run_for(1s);
    EXPECT_EQ(seats(), 1U);
    EXPECT_EQ(freed, 1);
}

TEST_F(a_seat_watch, tells_of_one_that_left_or_whose_seat_another_has_taken_away) {
    tables.seats.pop_back();
    loop.run_for(1s);
    EXPECT_EQ(freed, 1);
    loop.run_for(1min);
    EXPECT_EQ(freed, 1);
}

}  // namespace
}  // namespace posthorn
