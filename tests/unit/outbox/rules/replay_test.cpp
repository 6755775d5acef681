#include "outbox/rules/replay.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using enum replay_phase;
using enum replay_event;

constexpr replay_options how{.settle_time = 5s, .rate = 100, .ramp = 60s};

steady_time at(std::chrono::milliseconds since_begin) { return steady_time{} + since_begin; }

/// Brought there by what happens, as a lane would be.
replay_state in(replay_phase phase) {
    replay_state is;
    if (phase != live) is = step(is, opened, at(0s), how);
    if (phase == settling || phase == replaying) is = step(is, answered, at(0s), how);
    if (phase == replaying) is = step(is, time_passed, at(5s), how);
    return is;
}

TEST(replay, goes_from_phase_to_phase_as_its_table_says) {
    struct row {
        replay_phase from;
        replay_event what;
        replay_phase to;
    };
    const row table[]{
        {live, time_passed, live},
        {live, opened, outage},
        {live, answered, live},
        {live, strained, live},
        {live, drained, live},
        {outage, time_passed, outage},
        {outage, opened, outage},
        {outage, answered, settling},
        {outage, strained, outage},
        {outage, drained, outage},
        {settling, time_passed, settling},
        {settling, opened, outage},
        {settling, answered, settling},
        {settling, strained, settling},
        {settling, drained, settling},
        {replaying, time_passed, replaying},
        {replaying, opened, outage},
        {replaying, answered, replaying},
        {replaying, strained, replaying},
        {replaying, drained, live},
    };
    for (const auto& [from, what, to] : table) {
        const auto before = in(from);
        ASSERT_EQ(before.phase, from);
        const auto now = from == replaying ? at(6s) : at(1s);
        EXPECT_EQ(step(before, what, now, how).phase, to)
            << to_string(from) << ", event " << static_cast<int>(what);
    }
}

TEST(replay, begins_once_it_was_answered_for_its_time_without_a_break) {
    const auto is = in(settling);
    EXPECT_EQ(step(is, answered, at(4999ms), how).phase, settling);
    EXPECT_EQ(step(is, answered, at(5s), how).phase, replaying);
    const auto shaken = step(is, strained, at(4s), how);
    EXPECT_EQ(step(shaken, answered, at(8999ms), how).phase, settling);
    EXPECT_EQ(step(shaken, answered, at(9s), how).phase, replaying);
    EXPECT_EQ(step(is, drained, at(5s), how).phase, live) << "with nothing to replay";
}

TEST(replay, goes_from_a_tenth_of_its_rate_up_to_all_of_it_over_the_ramp) {
    EXPECT_DOUBLE_EQ(replay_rate(in(outage), at(1h), how), 10);
    EXPECT_DOUBLE_EQ(replay_rate(in(settling), at(3s), how), 10);
    const auto is = in(replaying);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(5s), how), 10);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(35s), how), 55);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(65s), how), 100);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(24h), how), 100);
    auto at_once = how;
    at_once.ramp = 0s;
    EXPECT_DOUBLE_EQ(replay_rate(is, at(5s), at_once), 100);
}

TEST(replay, goes_on_at_half_the_rate_after_silence_but_at_a_tenth_at_least) {
    auto is = step(in(replaying), strained, at(65s), how);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(65s), how), 50);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(75s), how), 65) << "it rises as steeply as before";
    for (int i = 0; i < 10; ++i) is = step(is, strained, at(75s), how);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(75s), how), 10);
}

TEST(replay, without_a_rate_has_no_limit) {
    const replay_options free{};
    const auto is = step(step({}, opened, at(0s), free), answered, at(1s), free);
    EXPECT_DOUBLE_EQ(replay_rate(is, at(2s), free), 0);
    EXPECT_DOUBLE_EQ(replay_rate(step(is, time_passed, at(6s), free), at(6s), free), 0);
}

}  // namespace
}  // namespace posthorn
