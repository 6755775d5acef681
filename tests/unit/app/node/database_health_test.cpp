#include "app/node/database_health.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> texts(const std::vector<health_worry>& worries) {
    std::vector<std::string> all;
    for (const auto& each : worries) {
        EXPECT_EQ(each.how, health_level::yellow);
        all.push_back(each.what);
    }
    return all;
}

TEST(database_health, is_good_while_nothing_is_seen) {
    const auto verdict = judge_database({});
    EXPECT_THAT(verdict.broken, IsEmpty());
    EXPECT_THAT(verdict.worries, IsEmpty());
}

TEST(database_health, worries_over_a_write_that_waits_and_breaks_when_it_waits_for_long) {
    struct row {
        std::chrono::milliseconds wait;
        std::size_t worries;
        std::size_t broken;
    };
    for (const auto& [wait, worries, broken] :
         {row{2'999ms, 0, 0}, row{3s, 1, 0}, row{9'999ms, 1, 0}, row{10s, 0, 1}, row{1h, 0, 1}}) {
        SCOPED_TRACE(wait.count());
        const auto verdict = judge_database({.longest_wait = wait});
        EXPECT_EQ(verdict.worries.size(), worries);
        EXPECT_EQ(verdict.broken.size(), broken);
    }
    EXPECT_THAT(judge_database({.longest_wait = 12'345ms}).broken,
                ElementsAre(HasSubstr("a write has waited for 12 s")));
}

TEST(database_health, leaves_a_wait_to_those_that_know_its_cause) {
    EXPECT_THAT(judge_database({.longest_wait = 20s, .is_stuck = true}).broken, IsEmpty());
    EXPECT_THAT(judge_database(
                    {.write_failure = error(error_code::store_busy, "locked"), .longest_wait = 20s})
                    .broken,
                ElementsAre("the store cannot be written: locked"));
}

TEST(database_health, is_broken_by_a_file_that_is_not_the_one_that_is_open) {
    EXPECT_THAT(judge_database({.lost_file = "orders.db-shm was deleted"}).broken,
                ElementsAre("orders.db-shm was deleted"));
}

TEST(database_health, names_why_the_table_cannot_be_looked_through_once_that_lasts) {
    const steady_time begun{100s};
    const auto after = [&](std::chrono::milliseconds time) {
        return database_signs{.sweeps_fail = sweep_trouble{.why = "boom", .since = begun},
                              .steady_now = begun + time};
    };
    EXPECT_THAT(judge_database(after(2'999ms)).worries, IsEmpty()) << "it may pass";
    EXPECT_THAT(texts(judge_database(after(3s)).worries), ElementsAre(HasSubstr("3 s now: boom")));
    EXPECT_THAT(judge_database(after(3s)).broken, IsEmpty());
    EXPECT_THAT(judge_database(after(10s)).worries, IsEmpty());
    EXPECT_THAT(judge_database(after(10s)).broken, ElementsAre(HasSubstr("10 s now: boom")));
    auto unwritten = after(10s);
    unwritten.write_failure = error(error_code::store_busy, "locked");
    EXPECT_THAT(judge_database(unwritten).broken, ElementsAre(HasSubstr("cannot be written")));
}

TEST(database_health, is_red_and_not_broken_while_one_message_cannot_be_taken_in) {
    const auto verdict = judge_database({.odd_arrival = "17: boom"});
    EXPECT_THAT(verdict.broken, IsEmpty());
    ASSERT_EQ(verdict.worries.size(), 1U);
    EXPECT_EQ(verdict.worries.front().how, health_level::red);
    EXPECT_THAT(verdict.worries.front().what, HasSubstr("seq 17: boom"));
}

TEST(database_health, names_what_cannot_be_recorded_and_why) {
    const auto verdict = judge_database({.settling = {9, 2, "no such column"}});
    EXPECT_THAT(texts(verdict.worries), ElementsAre(AllOf(HasSubstr("of 2 messages cannot be"),
                                                          HasSubstr("no such column"))));
    EXPECT_THAT(judge_database({.settling = {9, 0, ""}}).worries, IsEmpty()) << "it is over";
}

TEST(database_health, worries_while_the_clock_is_behind_what_the_database_knew_at_the_start) {
    const wall_time now{20'000h};
    EXPECT_THAT(judge_database({.newest_at_start = now + 5min, .now = now}).worries, IsEmpty());
    const auto verdict = judge_database({.newest_at_start = now + 10min, .now = now});
    EXPECT_THAT(texts(verdict.worries),
                ElementsAre(AllOf(HasSubstr("the clock shows " + to_iso8601(now)),
                                  HasSubstr(to_iso8601(now + 10min)), HasSubstr("set the clock"))));
    EXPECT_THAT(judge_database({.newest_at_start = now + 10min, .now = now + 10min}).worries,
                IsEmpty());
}

}  // namespace
}  // namespace posthorn
