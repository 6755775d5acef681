#include "store/rules/closed_account.hpp"

#include <gmock/gmock.h>

#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class an_account final : public closed_account<test::fake_driver> {
public:
    explicit an_account(test::fake_connection& database)
        : closed_account(database, {.error_by_seq = {"error"},
                                    .find = {"find"},
                                    .count = {"count"},
                                    .drop_unused = {"drop_unused"},
                                    .add = {"add"},
                                    .ungrouped = {"ungrouped"},
                                    .record = {"record"}}) {}

    std::vector<std::string> written;

private:
    result<> write(std::int64_t seq, outbox_status status, wall_time,
                   std::optional<std::int64_t> cause_id) override {
        written.push_back(fmt::format("{} {} {}", seq, to_string(status), cause_id.value_or(-1)));
        return {};
    }
};

class closed_messages : public ::testing::Test {
protected:
    closed_messages() {
        database.answer("error", {"billing", "Charge", "no route"});
        database.answer("add", {std::int64_t{9}});
    }
    /// So many causes are there; of those the account drops what nobody has.
    void count(std::int64_t before, std::int64_t after) {
        database.answer("count", {before});
        database.answer("count", {after});
    }

    test::fake_connection database;
    an_account account{database};
    static constexpr auto full = static_cast<std::int64_t>(causes_max);
};

TEST_F(closed_messages, have_a_cause_only_when_they_are_dead) {
    ASSERT_TRUE(account.record(1, outbox_status::expired, {}));
    EXPECT_THAT(account.written, ElementsAre("1 Expired -1"));
    EXPECT_THAT(database.take(), ElementsAre());
}

TEST_F(closed_messages, share_a_cause_that_is_known) {
    database.answer("find", {std::int64_t{4}});
    ASSERT_TRUE(account.record(1, outbox_status::dead, {}));
    EXPECT_THAT(account.written, ElementsAre("1 Dead 4"));
}

TEST_F(closed_messages, get_a_new_cause_while_there_is_room) {
    count(3, 3);
    ASSERT_TRUE(account.record(1, outbox_status::dead, {}));
    EXPECT_THAT(account.written, ElementsAre("1 Dead 9"));
    EXPECT_THAT(database.take(), Not(Contains("drop_unused()")));
}

TEST_F(closed_messages, get_a_new_cause_where_dropping_unused_ones_made_room) {
    count(full, full - 1);
    ASSERT_TRUE(account.record(1, outbox_status::dead, {}));
    const auto asked = database.take();
    EXPECT_THAT(asked, Contains("drop_unused()"));
    EXPECT_EQ(asked.back(), "add(billing, Charge, no route, 0)");
}

TEST_F(closed_messages, share_one_for_everything_more_when_it_is_full) {
    count(full, full);
    ASSERT_TRUE(account.record(1, outbox_status::dead, {}));
    EXPECT_EQ(database.take().back(), "add(, , other, 0)");
    ASSERT_TRUE(account.record(2, outbox_status::dead, {}));
    EXPECT_THAT(database.take(), Not(Contains("count()"))) << "so many rows are not counted again";
}

TEST_F(closed_messages, are_given_their_causes_later_where_plain_sql_closed_them) {
    database.answer("find", {std::int64_t{4}});
    database.answer_rows("ungrouped",
                         {{std::int64_t{1}, std::int64_t{5}}, {std::int64_t{2}, std::int64_t{6}}});
    EXPECT_EQ(account.group_some(10), 2);
    EXPECT_THAT(account.written, ElementsAre("1 Dead 4", "2 Dead 4"));
}

}  // namespace
}  // namespace posthorn
