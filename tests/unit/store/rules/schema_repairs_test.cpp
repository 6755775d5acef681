#include "store/rules/schema_repairs.hpp"

#include <array>

#include <gmock/gmock.h>

#include "store/rules/known_steps.hpp"

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct an_index {
    std::string name;
};

class a_schema : public ::testing::Test {
protected:
    result<schema_differences> mend_it() {
        return mend(
            "the schema a", "BEGIN IMMEDIATE",
            [&]() -> result<schema_repairs<an_index>> { return seen; },
            [&](const schema_repairs<an_index>& now) -> result<> {
                for (const auto& one : now.dropped) run.push_back("make " + one.name);
                return made;
            },
            [&](const std::string& sql) -> result<> {
                run.push_back(sql);
                return {};
            });
    }

    schema_repairs<an_index> seen;
    result<> made{};
    std::vector<std::string> run;
};

TEST_F(a_schema, that_is_as_it_was_made_is_left_alone_whatever_stands_beside_it) {
    seen.foreign = {"a trigger"};
    EXPECT_THAT(mend_it()->foreign, ElementsAre("a trigger"));
    EXPECT_THAT(run, IsEmpty());
}

TEST_F(a_schema, gets_back_what_was_dropped_in_one_transaction) {
    seen.dropped = {{"one"}, {"two"}};
    EXPECT_THAT(mend_it()->dropped, ElementsAre("one", "two"));
    EXPECT_THAT(run, ElementsAre("BEGIN IMMEDIATE", "make one", "make two", "COMMIT"));
}

TEST_F(a_schema, is_left_as_it_was_where_not_all_can_be_made) {
    seen.changed = {{"one"}};
    made = fail(error_code::statement_failed, "no room");
    EXPECT_THAT(mend_it().error().what(), HasSubstr("no room"));
    EXPECT_THAT(run, ElementsAre("BEGIN IMMEDIATE", "ROLLBACK"));
}

TEST_F(a_schema, that_has_lost_data_needs_a_person) {
    seen.lost = {{"the table t", "restore a backup"}};
    seen.dropped = {{"one"}};
    const auto mended = mend_it();
    ASSERT_FALSE(mended);
    EXPECT_EQ(mended.error().code(), error_code::store_corrupt);
    EXPECT_STREQ(
        mended.error().what(),
        "the table t, which Posthorn needs, was dropped from the schema a; restore a backup");
    EXPECT_THAT(run, IsEmpty());
}

TEST(taken_of, gives_the_steps_of_each_folder_up_to_the_newest_that_was_taken) {
    static constexpr std::array steps{migration{1, "a"}, migration{2, "b"}, migration{3, "c"}};
    const std::array sets{migration_set{"store", steps}, migration_set{"queue", steps},
                          migration_set{"audit", steps}};
    const auto taken = taken_of(sets, {{"store", 2}, {"queue", 9}});
    ASSERT_EQ(taken.size(), 3U);
    EXPECT_EQ(taken[0].steps.size(), 2U);
    EXPECT_EQ(taken[1].steps.size(), 3U) << "a newer Posthorn was here";
    EXPECT_TRUE(taken[2].steps.empty());
}

}  // namespace
}  // namespace posthorn
