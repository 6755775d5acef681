// Who may do what one node does at a time.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

std::function<result<std::optional<lease>>(store_transaction&)> take(
    std::string_view owner, const std::optional<lease>& seen, std::string_view name = "job") {
    return [=](store_transaction& tx) { return tx.leases().take(name, owner, seen); };
}
std::function<result<std::optional<lease>>(store_transaction&)> find(
    std::string_view name = "job") {
    return [=](store_transaction& tx) { return tx.leases().find(name); };
}
std::function<result<bool>(store_transaction&)> beat(std::string_view owner, std::int64_t epoch) {
    return [=](store_transaction& tx) { return tx.leases().beat("job", owner, epoch); };
}
std::function<result<bool>(store_transaction&)> release(std::string_view owner,
                                                        std::int64_t epoch) {
    return [=](store_transaction& tx) { return tx.leases().release("job", owner, epoch); };
}

using held = std::optional<lease>;

TEST_P(store, a_lease_that_nobody_holds_is_taken) {
    EXPECT_EQ(write<held>(find()), std::nullopt);
    const auto taken = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->owner, "a");
    EXPECT_GT(taken->epoch, 0);
    EXPECT_EQ(write<held>(find()), taken);
}

TEST_P(store, a_lease_that_is_held_is_not_there_for_who_did_not_see_it) {
    const auto first = write<held>(take("a", std::nullopt));
    EXPECT_EQ(write<held>(take("b", std::nullopt)), std::nullopt);
    EXPECT_EQ(write<held>(find()), first);
}

TEST_P(store, a_holder_that_stands_still_is_replaced_and_the_epoch_grows_by_one) {
    const auto first = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(first);
    const auto second = write<held>(take("b", first));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->owner, "b");
    EXPECT_EQ(second->epoch, first->epoch + 1);
}

TEST_P(store, a_lease_is_taken_whatever_a_program_has_written_there) {
    db();
    const auto other = disk().connect();
    for (const auto* const what :
         {"epoch = 9223372036854775807", "epoch = -9223372036854775808", "epoch = 'x'",
          "epoch = x'00ff'", "epoch = 1e300", "beat = 9223372036854775807", "beat = x'01'",
          "owner = x'61'", "owner = 7", "owner = ''", "owner = 'other'"}) {
        SCOPED_TRACE(what);
        ASSERT_TRUE(write<held>(take("a", write<held>(find()))));
        if (other->run(fmt::format("UPDATE posthorn_leases SET {} WHERE name = 'job'", what)))
            continue;  // The database has refused it.
        const auto taken = write<held>(take("b", write<held>(find())));
        ASSERT_TRUE(taken);
        EXPECT_EQ(taken->owner, "b");
        EXPECT_GT(taken->epoch, 0);
        EXPECT_TRUE(write<bool>(beat("b", taken->epoch)));
    }
}

TEST_P(store, of_two_who_saw_the_same_lease_one_gets_it) {
    const auto first = write<held>(take("a", std::nullopt));
    std::vector<held> got(2);
    std::vector<work> group;
    for (std::size_t i = 0; i < 2; ++i) {
        group.push_back([&, i](store_transaction& tx) -> result<> {
            auto taken = tx.leases().take("job", i == 0 ? "b" : "c", first);
            if (!taken) return std::unexpected(taken.error());
            got[i] = *taken;
            return {};
        });
    }
    run_all(std::move(group));
    EXPECT_TRUE(got[0]);
    EXPECT_FALSE(got[1]);
    EXPECT_EQ(write<held>(find()), got[0]);
}

TEST_P(store, a_lease_that_beat_since_it_was_seen_is_not_taken) {
    const auto first = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(first);
    EXPECT_TRUE(write<bool>(beat("a", first->epoch)));
    EXPECT_EQ(write<held>(take("b", first)), std::nullopt);
    const auto seen = write<held>(find());
    ASSERT_TRUE(seen);
    EXPECT_NE(seen->beat, first->beat);
    EXPECT_TRUE(write<held>(take("b", seen)));
}

TEST_P(store, only_the_holder_beats) {
    const auto first = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(first);
    EXPECT_FALSE(write<bool>(beat("b", first->epoch)));
    EXPECT_FALSE(write<bool>(beat("a", first->epoch + 1)));
    EXPECT_TRUE(write<bool>(beat("a", first->epoch)));
    EXPECT_TRUE(write<bool>(beat("a", first->epoch)));
    const auto second = write<held>(take("b", write<held>(find())));
    ASSERT_TRUE(second);
    EXPECT_FALSE(write<bool>(beat("a", first->epoch)));
    EXPECT_TRUE(write<bool>(beat("b", second->epoch)));
}

TEST_P(store, an_owner_that_comes_back_gets_a_new_epoch) {
    const auto first = write<held>(take("a", std::nullopt));
    const auto again = write<held>(take("a", first));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->epoch, first->epoch + 1);
    EXPECT_FALSE(write<bool>(beat("a", first->epoch)));
}

TEST_P(store, a_lease_given_back_is_taken_at_once_with_a_higher_epoch) {
    const auto first = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(first);
    EXPECT_FALSE(write<bool>(release("b", first->epoch)));
    EXPECT_FALSE(write<bool>(release("a", first->epoch + 1)));
    EXPECT_TRUE(write<bool>(release("a", first->epoch)));
    EXPECT_FALSE(write<bool>(release("a", first->epoch)));
    EXPECT_EQ(write<held>(find()), std::nullopt);
    EXPECT_FALSE(write<bool>(beat("a", first->epoch)));
    const auto second = write<held>(take("b", std::nullopt));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->epoch, first->epoch + 1);
}

TEST_P(store, a_lease_given_back_since_it_was_seen_is_not_as_it_was_seen) {
    const auto first = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(first);
    EXPECT_TRUE(write<bool>(release("a", first->epoch)));
    EXPECT_EQ(write<held>(take("b", first)), std::nullopt);
}

TEST_P(store, epochs_go_on_after_reopening) {
    const auto first = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(first);
    EXPECT_TRUE(write<bool>(release("a", first->epoch)));
    reopen();
    const auto second = write<held>(take("a", std::nullopt));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->epoch, first->epoch + 1);
}

TEST_P(store, leases_with_other_names_are_others) {
    const auto first = write<held>(take("a", std::nullopt));
    const auto other = write<held>(take("b", std::nullopt, "other job"));
    EXPECT_TRUE(other);
    EXPECT_EQ(write<held>(find()), first);
    EXPECT_EQ(write<held>(find("other job")), other);
}

TEST_P(store, a_lease_taken_in_a_refused_unit_is_not_taken) {
    EXPECT_FALSE(run([](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.leases().take("job", "a", std::nullopt));
        return fail(error_code::no_handler, "never mind");
    }));
    EXPECT_EQ(write<held>(find()), std::nullopt);
}

}  // namespace
}  // namespace posthorn::conformance
