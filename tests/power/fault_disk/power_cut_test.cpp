#include <gtest/gtest.h>

#include "power/fault_disk/workload.hpp"

namespace posthorn {
namespace {

void expect_whole(const workload_outcome& seen) {
    EXPECT_EQ(seen.torn, 0U) << "seed " << seen.first_bad_seed;
    EXPECT_EQ(seen.damaged, 0U) << "seed " << seen.first_bad_seed;
    EXPECT_GT(seen.acknowledged, seen.cuts);  // The cuts left room for something to lose.
}

TEST(power_cut, loses_no_acknowledged_commit_of_a_full_wal) {
    const auto seen = run_seeds(400, {.synchronous = "full", .cuts = 5});
    EXPECT_EQ(seen.cuts, 2'000U);
    EXPECT_EQ(seen.lost, 0U) << "seed " << seen.first_bad_seed;
    EXPECT_GT(seen.survived_doubt, 0U);  // A failed COMMIT may well have happened.
    expect_whole(seen);
}

TEST(power_cut, loses_no_acknowledged_commit_of_a_full_wal_when_sectors_turn_to_noise) {
    const auto seen = run_seeds(60, {.garbage = true});
    EXPECT_EQ(seen.lost, 0U) << "seed " << seen.first_bad_seed;
    expect_whole(seen);
}

TEST(power_cut, loses_acknowledged_commits_of_a_normal_wal_but_leaves_it_whole) {
    const auto seen = run_seeds(100, {.synchronous = "normal"});
    EXPECT_GT(seen.lost, seen.cuts / 4);
    expect_whole(seen);
}

TEST(power_cut, damages_a_database_that_never_syncs) {
    const auto seen = run_seeds(60, {.synchronous = "off"});
    EXPECT_GT(seen.damaged + seen.torn, 0U);
}

TEST(power_cut, tears_two_wal_files_joined_by_attach) {
    const auto seen = run_seeds(60, {.attach_second_file = true});
    EXPECT_GT(seen.torn, 10U);
    EXPECT_EQ(seen.damaged, 0U);  // Each file by itself is whole.
}

TEST(power_cut, keeps_two_rollback_journal_files_joined_by_attach_together) {
    const auto seen = run_seeds(60, {.journal = "delete",
                                     .synchronous = "extra",
                                     .attach_second_file = true,
                                     .operations_max = 250});
    EXPECT_EQ(seen.lost, 0U) << "seed " << seen.first_bad_seed;
    expect_whole(seen);
}

TEST(power_cut, loses_no_acknowledged_commit_of_a_rollback_journal_with_extra) {
    for (const char* journal : {"delete", "truncate", "persist"}) {
        SCOPED_TRACE(journal);
        const auto seen = run_seeds(60, {.journal = journal, .synchronous = "extra"});
        EXPECT_EQ(seen.lost, 0U) << "seed " << seen.first_bad_seed;
        expect_whole(seen);
    }
}

// FULL does not sync the directory after it deletes the journal, so the journal can come back and
// undo the last commit; EXTRA is there for that.
TEST(power_cut, can_undo_the_last_commit_of_a_deleted_journal_with_full) {
    const auto seen = run_seeds(60, {.journal = "delete", .synchronous = "full"});
    EXPECT_GT(seen.lost, 0U);
    EXPECT_LE(seen.lost, seen.cuts);
    expect_whole(seen);
}

}  // namespace
}  // namespace posthorn
