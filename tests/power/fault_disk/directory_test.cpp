#include "support/fault_disk/directory.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn::faults {
namespace {

constexpr cut_mood drop{.what = cut_mood::kind::drops_all};
constexpr cut_mood keep{.what = cut_mood::kind::keeps_all};

bool there_after(directory names, const std::string& path, const cut_mood& mood) {
    dice chance(1);
    names.lose_power(chance, mood);
    return names.find(path) != nullptr;
}

TEST(directory, may_lose_a_creation_until_it_is_synced) {
    directory names;
    const auto file = names.create("/a");
    EXPECT_TRUE(names.is_new("/a", file));
    EXPECT_FALSE(there_after(names, "/a", drop));
    EXPECT_TRUE(there_after(names, "/a", keep));
    names.sync("/a");
    EXPECT_FALSE(names.is_new("/a", file));
    EXPECT_TRUE(there_after(names, "/a", drop));
}

TEST(directory, may_bring_a_deleted_file_back_until_it_is_synced) {
    directory names;
    names.create("/a");
    names.sync("/a");
    names.remove("/a");
    EXPECT_EQ(names.find("/a"), nullptr);
    EXPECT_TRUE(there_after(names, "/a", drop));
    EXPECT_FALSE(there_after(names, "/a", keep));
    names.sync("/other");
    EXPECT_FALSE(there_after(names, "/a", drop));
}

TEST(directory, syncs_one_folder_and_not_another) {
    directory names;
    names.create("/here/a");
    names.create("/there/a");
    names.sync("/here/b");
    EXPECT_TRUE(there_after(names, "/here/a", drop));
    EXPECT_FALSE(there_after(names, "/there/a", drop));
}

TEST(directory, leaves_a_replaced_name_at_any_point_of_its_history) {
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        directory names;
        const auto first = names.create("/a");
        names.sync("/a");
        names.remove("/a");
        const auto second = names.create("/a");
        dice chance(seed);
        names.lose_power(chance, {});
        const auto left = names.find("/a");
        seen.insert(!left ? 0 : left == first ? 1 : 2);
        EXPECT_TRUE(!left || left == first || left == second);
    }
    EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace posthorn::faults
