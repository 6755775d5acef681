#include "store/rules/lease_changes.hpp"

#include <gmock/gmock.h>

#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using ::testing::ElementsAre;

class leases : public ::testing::Test {
protected:
    test::fake_connection database;
    lease_changes<test::fake_driver> table{database,
                                           {.find = {"find"},
                                            .make = {"make"},
                                            .take = {"take"},
                                            .beat = {"beat"},
                                            .release = {"release"}}};
};

TEST_F(leases, are_not_there_without_an_owner) {
    EXPECT_EQ(*table.find("a"), std::nullopt);
    database.answer("find", {nullptr, std::int64_t{3}, std::int64_t{0}});
    EXPECT_EQ(*table.find("a"), std::nullopt);
}

TEST_F(leases, are_taken_only_as_they_were_seen) {
    EXPECT_EQ(*table.take("a", "us", std::nullopt), std::nullopt) << "somebody was quicker";
    EXPECT_THAT(database.take(), ElementsAre("make(a)", "take(a, us, NULL, NULL, NULL)"));
    database.answer("take", {"us", std::int64_t{4}, std::int64_t{0}});
    EXPECT_EQ(*table.take("a", "us", lease{"them", 3, 9}), (lease{"us", 4, 0}));
    EXPECT_THAT(database.take(), ElementsAre("make(a)", "take(a, us, them, 3, 9)"));
}

TEST_F(leases, say_whether_they_were_still_the_owners) {
    EXPECT_EQ(table.beat("a", "us", 4), false);
    database.change("release", 1);
    EXPECT_EQ(table.release("a", "us", 4), true);
}

}  // namespace
}  // namespace posthorn
