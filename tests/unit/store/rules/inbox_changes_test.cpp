#include "store/rules/inbox_changes.hpp"

#include <gmock/gmock.h>

#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class a_store final : public inbox_changes<test::fake_driver> {
public:
    explicit a_store(test::fake_connection& database)
        : inbox_changes(database, {.find = {"find"},
                                   .insert = {"insert"},
                                   .claim = {"claim"},
                                   .take_over = {"take_over"},
                                   .respond = {"respond"},
                                   .complete = {"complete"},
                                   .release = {"release"}}) {}
};

class an_inbox : public ::testing::Test {
protected:
    test::fake_connection database;
    a_store inbox{database};
    inbox_key key{.source = "orders", .id = uuid{}};
};

TEST_F(an_inbox, completes_a_claim_only_while_it_is_the_owners) {
    const inbox_record record{.key = key, .response = ""};
    EXPECT_EQ(inbox.complete(record, "us"), false);
    EXPECT_THAT(inbox.take_received(), IsEmpty());
    EXPECT_EQ(database.take().back(),
              "complete(orders, " + uuid{}.to_string() + ", us, 0, NULL, 0, NULL)")
        << "an empty response is none, and has no seal";
    database.answer("complete", {std::int64_t{5}});
    EXPECT_EQ(inbox.complete(record, "us"), true);
    EXPECT_THAT(inbox.take_received(), ElementsAre(5));
}

TEST_F(an_inbox, counts_a_completed_one_beside_those_that_the_unit_inserted) {
    database.answer("insert", {std::int64_t{1}});
    EXPECT_EQ(inbox.insert({.key = key}), true);
    EXPECT_EQ(inbox.complete({.key = key}, "us"), false);
    EXPECT_THAT(inbox.take_received(), ElementsAre(1));
}

TEST_F(an_inbox, counts_none_that_was_there) {
    EXPECT_EQ(inbox.insert({.key = key}), false);
    EXPECT_THAT(inbox.take_received(), IsEmpty());
}

TEST_F(an_inbox, is_claimed_where_nothing_is_there_or_a_claim_has_run_out) {
    const inbox_claim wanted{.key = key, .owner = "us"};
    EXPECT_EQ(inbox.claim(wanted, {}), false) << "it is another's, or processed";
    database.change("take_over", 1);
    EXPECT_EQ(inbox.claim(wanted, {}), true);
    database.take();
    database.answer("claim", {std::int64_t{1}});
    EXPECT_EQ(inbox.claim(wanted, {}), true);
    EXPECT_EQ(database.take().size(), 1U) << "nothing has to be taken over";
    EXPECT_THAT(inbox.take_received(), IsEmpty());
}

TEST_F(an_inbox, gives_a_claim_up_if_there_is_one) {
    EXPECT_EQ(inbox.release(key, "us"), false);
    database.change("release", 1);
    EXPECT_EQ(inbox.release(key, "us"), true);
}

}  // namespace
}  // namespace posthorn
