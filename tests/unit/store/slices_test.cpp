// How large a slice is, and how long the others have the writer after it.
#include "store/slices.hpp"

#include <gtest/gtest.h>

#include "base/async/virtual_time.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

TEST(slices, aim_at_the_target_of_time) {
    struct row {
        const char* what;
        slice_seen seen;
        std::size_t rows;
    };
    const row table[] = {
        {"half the target: twice as many", {100, 100, 2500us}, 200},
        {"far below it: no more than twice as many", {100, 100, 10us}, 200},
        {"at the target: as many", {800, 800, 5ms}, 800},
        {"a little over it: a little fewer", {1000, 1000, 6250us}, 800},
        {"ten times over it: a tenth", {1000, 1000, 50ms}, 100},
        {"stopped in the middle: what fitted", {1000, 14, 7ms}, 10},
        {"one row that takes too long: one row", {1, 1, 30ms}, 1},
        {"no row was there: as before", {400, 0, 20us}, 400},
        {"a clock that stands still: twice as many", {400, 400, 0ns}, 800},
        {"never more than the most", {8000, 8000, 1us}, 10'000},
        {"never none", {1, 1, 10s}, 1},
        {"fewer rows than asked for, quickly", {1000, 10, 50us}, 1000},
    };
    for (const auto& [what, seen, rows] : table) EXPECT_EQ(next_slice_rows(seen, {}), rows) << what;
}

TEST(slices, leave_the_writer_to_others_for_nine_times_their_length) {
    EXPECT_EQ(rest_after(5ms, {}), 45ms);
    EXPECT_EQ(rest_after(0ns, {}), 1ms);  // Others come in between, always.
    EXPECT_EQ(rest_after(10s, {}), 1s);   // A machine that stood still is no reason to wait.
    EXPECT_EQ(rest_after(5ms, {.rest_factor = 3}), 15ms);
}

TEST(slice, is_over_when_its_time_is) {
    virtual_time time;
    const slice one(time, 10, 7ms);
    EXPECT_EQ(one.rows(), 10U);
    time.advance(6ms);
    EXPECT_FALSE(one.is_over());
    time.advance(1ms);
    EXPECT_TRUE(one.is_over());
    EXPECT_EQ(one.held(), 7ms);
}

}  // namespace
}  // namespace posthorn
