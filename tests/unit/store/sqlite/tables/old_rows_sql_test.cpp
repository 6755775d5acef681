// How much of a file's free room goes back to the disk, and what a compaction takes meanwhile.
#include "store/sqlite/tables/old_rows_sql.hpp"

#include <gtest/gtest.h>

#include "store/sqlite/upkeep/compaction.hpp"

namespace posthorn::sqlite {
namespace {

TEST(pages_to_give_back, leaves_a_tenth_of_what_is_used_and_four_mib_at_least) {
    struct row {
        std::int64_t free;
        std::int64_t all;
        std::int64_t given;
    };
    for (const auto& [free, all, given] : {
             row{0, 100, 0},
             row{1'024, 2'000, 0},
             row{1'025, 2'000, 1},
             row{5'000, 6'000, 3'976},
             row{100'000, 1'100'000, 0},
             row{600'000, 1'600'000, 500'000},
         })
        EXPECT_EQ(pages_to_give_back(free, all), given) << free << " of " << all;
}

TEST(room_to_compact, is_twice_what_the_file_holds_and_a_little) {
    constexpr std::uint64_t mib = 1 << 20;
    EXPECT_EQ(room_to_compact({.all = 1000 * mib, .free = 900 * mib}), 203 * mib);
    EXPECT_EQ(room_to_compact({}), mib);
}

}  // namespace
}  // namespace posthorn::sqlite
