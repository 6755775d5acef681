// The disk is watched, and what is done about it.
#include "store/upkeep/disk_keeper.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_directory.hpp"

namespace posthorn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

struct fake_disk {
    std::optional<std::uint64_t> free = 1000 * mib;
    std::uint64_t ballast = 0;
    bool refuses_ballast = false;
};

class fake_space final : public disk_space {
public:
    explicit fake_space(fake_disk& disk) : disk_(disk) {}

    std::optional<std::uint64_t> free() override { return disk_.free; }
    bool has_ballast() override { return disk_.ballast > 0; }
    result<> make_ballast(std::uint64_t bytes) override {
        if (disk_.refuses_ballast) return fail(error_code::io_failed, "no");
        disk_.ballast = bytes;
        return {};
    }
    void drop_ballast() override { disk_.ballast = 0; }

private:
    fake_disk& disk_;
};

class disk_keeper_test : public ::testing::Test {
protected:
    fake_disk disk;
    logger log = logger::null();
    disk_keeper keeper{
        std::make_unique<fake_space>(disk), {.low_water = 64 * mib, .ballast = 16 * mib}, log};
};

TEST_F(disk_keeper_test, makes_the_ballast_at_the_first_look) {
    keeper.look();
    EXPECT_EQ(disk.ballast, 16 * mib);
    EXPECT_TRUE(keeper.report().has_ballast);
    EXPECT_EQ(keeper.report().free, 1000 * mib);
}

TEST_F(disk_keeper_test, refuses_below_the_mark_and_no_more_once_there_is_room) {
    EXPECT_TRUE(keeper.require_room());
    disk.free = 30 * mib;
    keeper.look();
    const auto refused = keeper.require_room();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::store_full);
    EXPECT_TRUE(refused.error().is_transient());
    EXPECT_EQ(keeper.report().refused, 1U);
    disk.free = 200 * mib;
    keeper.look();
    EXPECT_TRUE(keeper.require_room());
}

TEST_F(disk_keeper_test, gives_the_ballast_up_at_once_when_a_commit_finds_no_room) {
    keeper.look();
    disk.free = 5 * mib;
    keeper.units_refused(1);
    EXPECT_EQ(disk.ballast, 0U);
    EXPECT_EQ(keeper.report().state, disk_state::full);
    EXPECT_FALSE(keeper.require_room());
    disk.free = 16 * mib;
    keeper.look();
    EXPECT_EQ(keeper.report().state, disk_state::low);
    EXPECT_EQ(disk.ballast, 0U);  // It is there to be used.
    disk.free = 500 * mib;
    keeper.look();
    EXPECT_EQ(disk.ballast, 16 * mib);
    EXPECT_TRUE(keeper.require_room());
}

TEST_F(disk_keeper_test, does_not_take_its_own_refusals_for_a_full_disk) {
    keeper.look();
    disk.free = 30 * mib;
    keeper.look();
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(keeper.require_room());
    keeper.units_refused(3);
    EXPECT_EQ(disk.ballast, 16 * mib);
    EXPECT_EQ(keeper.report().state, disk_state::low);
    EXPECT_FALSE(keeper.require_room());
    keeper.units_refused(2);  // One of them was refused by the disk.
    EXPECT_EQ(disk.ballast, 0U);
}

TEST_F(disk_keeper_test, goes_on_where_no_ballast_can_be_made) {
    disk.refuses_ballast = true;
    keeper.look();
    keeper.look();
    EXPECT_FALSE(keeper.report().has_ballast);
    EXPECT_TRUE(keeper.require_room());
}

TEST(disk_keeper, allows_everything_without_a_disk_to_ask) {
    logger log = logger::null();
    disk_keeper keeper(nullptr, {}, log);
    keeper.look();
    keeper.units_refused(5);
    EXPECT_TRUE(keeper.require_room());
    EXPECT_EQ(keeper.report().free, std::nullopt);
}

TEST(disk_space, of_a_real_folder_is_known_and_its_ballast_takes_real_room) {
    const test::temporary_directory place;
    const auto database = place.path() / "orders.db";
    const auto space = disk_space_of(database);
    EXPECT_GT(space->free().value_or(0), 0U);
    EXPECT_FALSE(space->has_ballast());
    ASSERT_TRUE(space->make_ballast(3 * mib));
    EXPECT_TRUE(space->has_ballast());
    struct stat seen{};
    ASSERT_EQ(::stat((database.string() + "-ballast").c_str(), &seen), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(seen.st_size), 3 * mib);
    EXPECT_GE(static_cast<std::uint64_t>(seen.st_blocks) * 512, 3 * mib);
    EXPECT_EQ(seen.st_mode & 0777U, 0600U);
    space->drop_ballast();
    EXPECT_FALSE(space->has_ballast());
    space->drop_ballast();  // Twice is safe.
}

TEST(disk_space, of_a_folder_that_is_not_there_is_unknown) {
    const test::temporary_directory place;
    const auto space = disk_space_of(place.path() / "nowhere" / "orders.db");
    EXPECT_EQ(space->free(), std::nullopt);
    const auto made = space->make_ballast(mib);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), error_code::io_failed);
}

}  // namespace
}  // namespace posthorn
