#include "base/time/clock_watch.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// How far each clock went since the last look.
struct look {
    milliseconds steady;
    milliseconds wall;
};

struct watch_case {
    std::string name;
    std::vector<look> looks;
    bool settled;
    bool jumped;
};

void PrintTo(const watch_case& one, std::ostream* out) { *out << one.name; }

TEST(lags_behind, is_more_than_clocks_differ_by) {
    const wall_time now{20'000h};
    EXPECT_FALSE(lags_behind(now, now - 24h));
    EXPECT_FALSE(lags_behind(now, now + 5min));
    EXPECT_TRUE(lags_behind(now, now + 5min + 1ms));
}

class clock_watch_table : public testing::TestWithParam<watch_case> {};

TEST_P(clock_watch_table, judges_the_wall_clock) {
    clock_watch watch;
    wall_time wall{20'000h};
    steady_time steady{7s};
    watch.look(wall, steady);
    for (const auto& step : GetParam().looks) {
        wall += step.wall;
        steady += step.steady;
        watch.look(wall, steady);
    }
    EXPECT_EQ(watch.settled(), GetParam().settled);
    EXPECT_EQ(watch.jumped(), GetParam().jumped);
}

INSTANTIATE_TEST_SUITE_P(
    all, clock_watch_table,
    testing::Values(
        watch_case{"first_look", {}, false, false},
        watch_case{"agreed_for_less_than_the_hold", {{59min, 59min}}, false, false},
        watch_case{"agreed_for_the_hold", {{30min, 30min}, {30min, 30min}}, true, false},
        watch_case{"drift_is_no_jump", {{30min, 30min + 5s}, {30min, 30min - 5s}}, true, false},
        watch_case{"forwards", {{1h, 1h}, {5min, 5min + 5001ms}}, false, true},
        watch_case{"backwards", {{1h, 1h}, {5min, 5min - 5001ms}}, false, true},
        watch_case{"ten_years_ahead", {{1h, 1h}, {1s, 87'600h}}, false, true},
        watch_case{"ten_years_back", {{1h, 1h}, {1s, -87'600h}}, false, true},
        watch_case{"frozen", {{1h, 1h}, {5min, 0min}}, false, true},
        watch_case{
            "there_and_back", {{1h, 1h}, {1s, 48h}, {1s, -48h}, {59min, 59min}}, false, true},
        watch_case{"held_shortly_after", {{2h, 2h}, {1s, 1h}, {59min, 59min}}, false, true},
        watch_case{"believed_again", {{2h, 2h}, {1s, 1h}, {60min, 60min}}, true, false},
        watch_case{"jump_at_the_start", {{1s, 1h}}, false, true}),
    [](const auto& info) { return info.param.name; });

TEST(clock_guard, gives_the_wall_time_only_when_the_clocks_agreed_long_enough) {
    virtual_time time;
    clock_guard guard(time);
    EXPECT_EQ(guard.settled_wall(), std::nullopt);
    time.advance(1h);
    EXPECT_EQ(guard.settled_wall(), time.wall());
    EXPECT_FALSE(guard.jumped());
    time.jump_wall(10s);
    EXPECT_EQ(guard.settled_wall(), std::nullopt);
    EXPECT_TRUE(guard.jumped());
}

}  // namespace
}  // namespace posthorn
