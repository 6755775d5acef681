#include "support/fault_disk/disk_file.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn::faults {
namespace {

constexpr cut_mood even{.what = cut_mood::kind::mixes, .keep_percent = 50};
constexpr cut_mood drop{.what = cut_mood::kind::drops_all};

std::vector<std::byte> filled(std::size_t length, char with) {
    return std::vector<std::byte>(length, static_cast<std::byte>(with));
}

char at(const disk_file& file, std::uint64_t offset) {
    std::byte found{};
    file.read(offset, {&found, 1});
    return static_cast<char>(found);
}

disk_file synced(std::size_t length, char with) {
    disk_file file;
    file.write(0, filled(length, with));
    file.sync();
    return file;
}

TEST(disk_file, drops_each_unsynced_sector_by_itself) {
    auto file = synced(64 * 512, 'a');
    file.write(0, filled(64 * 512, 'b'));
    dice chance(1);
    file.lose_power(chance, even);
    int kept = 0;
    for (std::uint64_t sector = 0; sector < 64; ++sector) {
        const char first = at(file, sector * 512);
        kept += first == 'b' ? 1 : 0;
        for (std::uint64_t i = 0; i < 512; ++i) ASSERT_EQ(at(file, sector * 512 + i), first);
    }
    EXPECT_GT(kept, 10);
    EXPECT_LT(kept, 54);
}

TEST(disk_file, leaves_bytes_beside_a_torn_write_alone) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        auto file = synced(2048, 'a');
        file.write(700, filled(400, 'b'));
        dice chance(seed);
        file.lose_power(chance,
                        {.what = cut_mood::kind::mixes, .keep_percent = 0, .garbage = true});
        for (std::uint64_t i = 0; i < 2048; ++i) {
            if (i < 700 || i >= 1100) {
                ASSERT_EQ(at(file, i), 'a') << i;
            }
        }
    }
}

TEST(disk_file, keeps_a_prefix_of_the_writes_to_one_sector) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto file = synced(512, '-');
        file.write(0, filled(1, 'x'));
        file.write(1, filled(1, 'y'));
        dice chance(seed);
        file.lose_power(chance, even);
        seen.insert({at(file, 0), at(file, 1)});
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAre("--", "x-", "xy"));
}

TEST(disk_file, happens_to_truncate_all_or_nothing) {
    std::set<std::pair<std::uint64_t, char>> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto file = synced(8192, 'a');
        file.truncate(0);
        dice chance(seed);
        file.lose_power(chance, even);
        seen.emplace(file.size(), at(file, 5000));
        if (file.size() > 0) {
            ASSERT_EQ(file.durable().all(), filled(8192, 'a'));
        }
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAre(testing::Pair(0, 0), testing::Pair(8192, 'a')));
}

TEST(disk_file, shows_zeros_and_never_old_bytes_where_it_was_truncated_and_grew_again) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto file = synced(4096, 'a');
        file.truncate(100);
        file.write(4095, filled(1, 'c'));
        ASSERT_EQ(at(file, 2000), '\0');
        dice chance(seed);
        file.lose_power(chance, even);
        ASSERT_EQ(at(file, 50), 'a');
        if (at(file, 4095) == 'c') {
            ASSERT_EQ(at(file, 2000), '\0');
        }
    }
}

TEST(disk_file, keeps_its_length_apart_from_its_data) {
    bool grew_by_zeros = false;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        disk_file file;
        file.write(0, filled(512, 'a'));
        dice chance(seed);
        file.lose_power(chance, even);
        grew_by_zeros |= file.size() == 512 && at(file, 0) == '\0';
    }
    EXPECT_TRUE(grew_by_zeros);
}

TEST(disk_file, forgets_after_a_failed_sync_what_a_later_one_does_not_see_written_again) {
    auto file = synced(8192, 'a');
    file.write(0, filled(1, 'b'));
    file.write(4096, filled(1, 'b'));
    file.abandon_pending();
    file.write(4097, filled(1, 'c'));  // Dirties the second page again.
    file.sync();
    EXPECT_EQ(at(file, 0), 'b');  // The page cache still has it.
    dice chance(1);
    file.lose_power(chance, drop);
    EXPECT_EQ(at(file, 0), 'a');
    EXPECT_EQ(at(file, 4096), 'b');
    EXPECT_EQ(at(file, 4097), 'c');
}

TEST(disk_file, shares_pages_with_a_copy_until_one_writes) {
    auto file = synced(8192, 'a');
    const auto copy = file.durable_copy();
    file.write(0, filled(8192, 'b'));
    file.sync();
    EXPECT_EQ(at(*copy, 0), 'a');
    copy->write(4096, filled(1, 'c'));
    EXPECT_EQ(at(file, 4096), 'b');
}

}  // namespace
}  // namespace posthorn::faults
