// Which messages are due, and in which order.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uuid> ids(const outbox_page& page) {
    std::vector<uuid> found;
    for (const auto& row : page.rows) found.push_back(row.body.id);
    return found;
}

message at(message body, std::optional<wall_time> when) {
    body.deliver_at = when;
    return body;
}

TEST_P(store, a_message_is_due_at_once_unless_it_says_otherwise) {
    const auto body = sample();
    put(body);
    EXPECT_THAT(ids(due("billing", noon)), ElementsAre(body.id));
}

TEST_P(store, a_message_with_a_time_to_deliver_is_due_from_then_on) {
    const auto body = at(sample(), noon + 10s);
    put(body);
    EXPECT_THAT(ids(due("billing", noon + 10s - 1ms)), IsEmpty());
    EXPECT_THAT(ids(due("billing", noon + 10s)), ElementsAre(body.id));
}

TEST_P(store, the_longest_due_come_first) {
    const auto late = at(sample(), noon + 3s);
    const auto early = at(sample(), noon + 1s);
    const auto middle = at(sample(), noon + 2s);
    for (const auto& body : {late, early, middle}) put(body);
    EXPECT_THAT(ids(due("billing", noon + 5s)), ElementsAre(early.id, middle.id, late.id));
}

TEST_P(store, messages_due_at_the_same_time_come_in_the_order_of_commit) {
    std::vector<uuid> stored;
    for (int i = 0; i < 10; ++i) {
        const auto body = sample();
        put(body);
        stored.push_back(body.id);
    }
    EXPECT_EQ(ids(due("billing", noon)), stored);
}

TEST_P(store, no_more_than_the_limit_are_given) {
    std::vector<uuid> stored;
    for (int i = 0; i < 5; ++i) {
        const auto body = sample();
        put(body);
        stored.push_back(body.id);
    }
    EXPECT_THAT(ids(due("billing", noon, 2)), ElementsAre(stored[0], stored[1]));
    EXPECT_THAT(ids(due("billing", noon, 5)), ::testing::SizeIs(5));
}

TEST_P(store, only_messages_of_the_destination_are_given) {
    const auto mine = sample("billing");
    put(mine);
    put(sample("billing2"));
    put(sample("Billing"));
    EXPECT_THAT(ids(due("billing", noon)), ElementsAre(mine.id));
    EXPECT_THAT(ids(due("nobody", noon)), IsEmpty());
}

TEST_P(store, destinations_with_due_messages_are_each_given_once) {
    const auto destinations = [&](wall_time now) {
        return look<std::vector<std::string>>(
            [&](store_reader& reader) { return reader.outbox().due_destinations(now); });
    };
    EXPECT_THAT(destinations(noon), IsEmpty());
    for (const auto* name : {"stock", "billing", "stock", "mail", "billing"}) put(sample(name));
    put(at(sample("later"), noon + 1s));
    EXPECT_THAT(destinations(noon), ElementsAre("billing", "mail", "stock"));
    EXPECT_THAT(destinations(noon + 1s), ElementsAre("billing", "later", "mail", "stock"));
}

TEST_P(store, a_destination_with_messages_that_are_all_settled_is_not_given) {
    const auto seq = put(sample("stock"));
    ASSERT_EQ(settle({{.seq = seq, .at = noon}}, dispatch()), 1);
    const auto found = look<std::vector<std::string>>(
        [&](store_reader& reader) { return reader.outbox().due_destinations(noon); });
    EXPECT_THAT(found, IsEmpty());
}

TEST_P(store, next_due_is_the_earliest_over_all_destinations) {
    const auto next = [&] {
        return look<std::optional<wall_time>>(
            [](store_reader& reader) { return reader.outbox().next_due(); });
    };
    EXPECT_EQ(next(), std::nullopt);
    put(at(sample("stock"), noon + 3s));
    put(at(sample("billing"), noon + 2s));
    const auto seq = put(at(sample("mail"), noon + 1s));
    EXPECT_EQ(next(), noon + 1s);
    ASSERT_EQ(settle({{.seq = seq, .at = noon}}, dispatch()), 1);
    EXPECT_EQ(next(), noon + 2s);
}

TEST_P(store, next_due_of_a_message_that_is_due_is_not_in_the_future) {
    put(sample());
    const auto next = look<std::optional<wall_time>>(
        [](store_reader& reader) { return reader.outbox().next_due(); });
    ASSERT_TRUE(next);
    EXPECT_LE(*next, noon);
}

TEST_P(store, settled_messages_are_no_longer_due) {
    std::vector<settlement> outcomes;
    for (const auto to : {outbox_status::sent, outbox_status::dead, outbox_status::expired,
                          outbox_status::resolved}) {
        outcomes.push_back({.seq = put(sample()), .to = to, .at = noon, .error = "because"});
    }
    const auto left = sample();
    put(left);
    ASSERT_EQ(settle(outcomes, dispatch()), 4);
    EXPECT_THAT(ids(due("billing", noon)), ElementsAre(left.id));
}

TEST_P(store, of_messages_settled_together_those_are_left_alone_that_a_person_was_quicker_with) {
    std::vector<settlement> outcomes;
    for (int i = 0; i < 5; ++i) outcomes.push_back({.seq = put(sample()), .at = noon});
    const auto epoch = dispatch();
    ASSERT_EQ(settle({{.seq = outcomes[2].seq, .to = outbox_status::resolved, .at = noon}}, epoch),
              1);
    EXPECT_EQ(settle(outcomes, epoch), 4);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE status = 'Sent'"), 4);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE status = 'Resolved'"), 1);
    EXPECT_EQ(settle(outcomes, epoch), 0);  // Nor again.
}

TEST_P(store, a_sweep_meets_every_message_once_when_it_settles_what_it_gets) {
    constexpr std::size_t total = 250;
    for (std::size_t unit = 0; unit < 5; ++unit)
        must([&](store_transaction& tx) -> result<> {
            for (std::size_t i = 0; i < total / 5; ++i) POSTHORN_TRY(tx.outbox().insert(sample()));
            return {};
        });
    const auto epoch = dispatch();
    std::vector<std::int64_t> met;
    for (auto page = due("billing", noon, 40); !page.rows.empty();
         page = due("billing", noon, 40)) {
        std::vector<settlement> outcomes;
        for (const auto& row : page.rows) {
            met.push_back(row.seq);
            outcomes.push_back({.seq = row.seq, .at = noon});
        }
        ASSERT_EQ(settle(outcomes, epoch), static_cast<std::int64_t>(outcomes.size()));
    }
    EXPECT_EQ(met.size(), total);
    EXPECT_TRUE(std::ranges::is_sorted(met));
}

}  // namespace
}  // namespace posthorn::conformance
