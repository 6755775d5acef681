// What to think of a disk, and what to do with the ballast.
#include "store/disk_room.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using enum disk_state;
using act = disk_step::act;

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr disk_limits limits{.low_water = 64 * mib, .ballast = 16 * mib};

TEST(disk_room, is_judged_by_the_table) {
    struct row {
        const char* what;
        disk_state before;
        disk_facts seen;
        disk_step then;
    };
    const row table[] = {
        {"plenty", enough, {1000 * mib, true}, {enough}},
        {"plenty, without ballast: it is made",
         enough,
         {1000 * mib, false},
         {enough, act::make_ballast}},
        {"twice the mark is enough", enough, {128 * mib, true}, {enough}},
        {"below twice the mark", enough, {127 * mib, true}, {scarce}},
        {"at the mark", scarce, {64 * mib, true}, {scarce}},
        {"just below the mark", scarce, {64 * mib - 1, true}, {low}},
        {"below the mark at once", enough, {10 * mib, true}, {low}},
        {"a ballast that is missing is not made of the last room",
         enough,
         {90 * mib, false},
         {scarce}},
        {"it is made where a quarter above the mark is left",
         enough,
         {96 * mib, false},
         {scarce, act::make_ballast}},
        {"a little above the mark is no use to begin anew", low, {79 * mib, true}, {low}},
        {"a quarter above is", low, {80 * mib, true}, {scarce}},
        {"without ballast that must fit in too", low, {95 * mib, false}, {low}},
        {"and then does", low, {96 * mib, false}, {scarce, act::make_ballast}},
        {"plenty again", full, {1000 * mib, false}, {enough, act::make_ballast}},
        {"next to nothing: the ballast goes", low, {mib - 1, true}, {full, act::give_up_ballast}},
        {"next to nothing and no ballast", low, {0, false}, {full}},
        {"a commit was refused: the ballast goes",
         low,
         {8 * mib, true, true},
         {full, act::give_up_ballast}},
        {"refused though there is room, as by a quota: that is for the disk to say",
         enough,
         {1000 * mib, true, true},
         {enough, act::give_up_ballast}},
        {"the room of the ballast is no room for messages", full, {16 * mib, false}, {low}},
        {"nobody can tell: as before", scarce, {std::nullopt, true}, {scarce}},
        {"nobody can tell, after it was full: no longer full", full, {std::nullopt, false}, {low}},
        {"nobody can tell, but a commit was refused",
         enough,
         {std::nullopt, true, true},
         {full, act::give_up_ballast}},
    };
    for (const auto& [what, before, seen, then] : table)
        EXPECT_EQ(judge_disk(before, seen, limits), then) << what;
}

TEST(disk_room, without_a_mark_is_enough_until_a_commit_is_refused) {
    const disk_limits none{.ballast = 16 * mib};
    EXPECT_EQ(judge_disk(enough, {.free = 2 * mib, .has_ballast = true}, none), disk_step{enough});
    EXPECT_EQ(judge_disk(enough, {.free = 0, .has_ballast = true, .commit_refused = true}, none),
              (disk_step{full, act::give_up_ballast}));
    EXPECT_EQ(judge_disk(full, {.free = 17 * mib}, none), (disk_step{enough, act::make_ballast}));
}

TEST(disk_room, without_a_ballast_makes_none) {
    const disk_limits none{.low_water = 64 * mib};
    EXPECT_EQ(judge_disk(enough, {.free = 1000 * mib}, none), disk_step{enough});
    EXPECT_EQ(judge_disk(low, {.free = 80 * mib}, none), disk_step{scarce});
}

TEST(disk_room, says_what_is_wrong_and_what_to_do) {
    EXPECT_EQ(describe(disk_report{}), "");
    for (const auto state : {scarce, low, full}) {
        const auto text = describe(disk_report{.state = state, .free = 5 * mib, .limits = limits});
        EXPECT_NE(text.find("free space"), std::string::npos) << text;
    }
    EXPECT_NE(describe(disk_report{.state = low, .free = 5 * mib, .limits = limits}).find("5 MiB"),
              std::string::npos);
}

TEST(disk_room, lets_messages_in_until_it_is_low) {
    EXPECT_TRUE(may_grow(enough));
    EXPECT_TRUE(may_grow(scarce));
    EXPECT_FALSE(may_grow(low));
    EXPECT_FALSE(may_grow(full));
}

}  // namespace
}  // namespace posthorn
