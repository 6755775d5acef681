#include "conformance/own/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(own_store, gives_what_was_added_in_its_order_and_no_more_than_asked) {
    const auto first = added("1");
    added("2");
    added("3");
    EXPECT_EQ(pending(noon, 2), "12");
    EXPECT_EQ(pending(), "123");
    EXPECT_EQ(stores_.outbox->pending(1, noon).at(0), first) << "every field";
}

TEST_P(own_store, takes_a_message_that_is_added_twice_for_one) {
    auto one = added("1");
    one.payload = "another";
    stores_.outbox->add(one);
    EXPECT_EQ(pending(), "1");
    stores_.outbox->mark_published(one.id, noon);
    stores_.outbox->add(one);
    EXPECT_EQ(pending(), "") << "nor is it published again";
}

TEST_P(own_store, gives_a_failed_one_again_from_its_time_on_with_what_went_wrong) {
    const auto one = added("1");
    added("2");
    stores_.outbox->mark_failed(one.id, "refused", noon + 2s);
    EXPECT_EQ(pending(noon + 1s), "2");
    EXPECT_EQ(pending(noon + 2s), "12");
    const auto again = stores_.outbox->pending(1, noon + 2s).at(0);
    EXPECT_EQ(again.retry_count, 1);
    EXPECT_EQ(again.error, "refused");
}

TEST_P(own_store, never_gives_one_again_that_was_given_up) {
    const auto one = added("1");
    stores_.outbox->mark_failed(one.id, "refused", std::nullopt);
    EXPECT_EQ(pending(noon + 24h * 3650), "");
}

TEST_P(own_store, knows_what_was_processed_by_source_and_id) {
    const auto id = event().id;
    EXPECT_FALSE(stores_.inbox->exists("orders", id));
    stores_.inbox->mark_processed("orders", id, noon);
    stores_.inbox->mark_processed("orders", id, noon);
    EXPECT_TRUE(stores_.inbox->exists("orders", id));
    EXPECT_FALSE(stores_.inbox->exists("stock", id));
}

TEST_P(own_store, forgets_what_was_processed_long_ago) {
    const auto old = event().id, young = event().id;
    stores_.inbox->mark_processed("orders", old, noon);
    stores_.inbox->mark_processed("orders", young, noon + 1h);
    EXPECT_EQ(stores_.inbox->forget(noon + 1h), 1U);
    EXPECT_FALSE(stores_.inbox->exists("orders", old));
    EXPECT_TRUE(stores_.inbox->exists("orders", young));
}

TEST_P(own_store, processes_a_message_once_and_again_where_that_failed) {
    const auto id = event().id;
    int done = 0;
    EXPECT_THROW(process_once(*stores_.inbox, "orders", id, [] { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_TRUE(process_once(*stores_.inbox, "orders", id, [&] { ++done; }));
    EXPECT_FALSE(process_once(*stores_.inbox, "orders", id, [&] { ++done; }));
    EXPECT_EQ(done, 1);
}

TEST_P(own_store, keeps_dead_letters_until_a_person_has_seen_to_them_and_says_whether) {
    auto& dead = *stores_.dead_letters;
    const auto requeued = added("1"), resolved = added("2"), removed = added("3");
    for (const auto& one : {requeued, resolved, removed}) {
        stores_.outbox->mark_failed(one.id, "refused", std::nullopt);
        dead.add(one, noon);
        dead.add(one, noon);
    }
    EXPECT_EQ(dead.list().size(), 3U);
    EXPECT_EQ(dead.list(1).at(0), requeued);
    EXPECT_TRUE(dead.requeue(requeued.id));
    EXPECT_TRUE(dead.resolve(resolved.id, "by hand"));
    EXPECT_TRUE(dead.remove(removed.id));
    EXPECT_TRUE(dead.list().empty());
    EXPECT_EQ(pending(), "1") << "it is pending again, the others are not";
    EXPECT_EQ(stores_.outbox->pending(1, noon).at(0).retry_count, 0);
    for (const auto& one : {requeued, resolved, removed}) {
        EXPECT_FALSE(dead.requeue(one.id));
        EXPECT_FALSE(dead.resolve(one.id, "again"));
        EXPECT_FALSE(dead.remove(one.id));
    }
}

}  // namespace
}  // namespace posthorn::conformance
