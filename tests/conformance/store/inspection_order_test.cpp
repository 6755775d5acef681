// What a person sees of messages that wait behind another of their order key.
#include "conformance/store/inspection.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(inspected_order, names_what_blocks_a_key_since_when_and_how_many_wait) {
    const auto dead = give_up(outbox_status::dead, keyed("a"));
    put(keyed("a"));
    give_up(outbox_status::expired, keyed("a"));  // Behind the first one itself.
    put(keyed("a"));
    put(keyed("a", "acme"));  // Of another tenant, so behind none.
    const auto expired = give_up(outbox_status::expired, keyed("b", "acme"));
    put(keyed("b", "acme"));
    give_up(outbox_status::dead, keyed("c"));  // None waits behind it,
    give_up(outbox_status::dead, sample());    // nor behind one without a key.
    put(keyed("d"));
    put(keyed("d"));  // Behind one that is under way.
    const auto seen = blocked();
    EXPECT_FALSE(seen.more);
    EXPECT_THAT(seen.keys, ElementsAre(blocked_key{{"billing", "a", ""},
                                                   {dead, outbox_status::dead, noon + 1s},
                                                   {2, false}},
                                       blocked_key{{"billing", "b", "acme"},
                                                   {expired, outbox_status::expired, noon + 1s},
                                                   {1, false}}));
}

TEST_P(inspected_order, says_when_it_has_not_seen_all_that_is_blocked) {
    for (const auto* key : {"a", "b"}) {
        give_up(outbox_status::dead, keyed(key));
        put(keyed(key));
        put(keyed(key));
    }
    const auto one = blocked({.keys_max = 1});
    EXPECT_EQ(one.keys.size(), 1U);
    EXPECT_TRUE(one.more);
    EXPECT_EQ(blocked({.count_max = 1}).keys.front().waiting, (bounded_count{1, true}));
    EXPECT_TRUE(blocked({.rows_max = 1}).more);
    EXPECT_FALSE(blocked().more);
}

TEST_P(inspected_order, blocks_nothing_where_followers_pass) {
    give_up(outbox_status::dead, keyed("a"));
    const auto follower = keyed("a");
    put(follower);
    EXPECT_EQ(blocked().keys.size(), 1U);
    set_policy(order_policy::pass);
    EXPECT_THAT(blocked().keys, IsEmpty());
    EXPECT_EQ(behind(follower), std::nullopt);
}

TEST_P(inspected_order, blocks_no_delivery_to_a_subscriber) {
    auto given_up = keyed("a");
    given_up.destination = "webhook:01900000-0000-7000-8000-000000000001";
    auto follower = given_up;
    follower.id = new_id();
    give_up(outbox_status::dead, given_up);
    put(follower);
    EXPECT_THAT(blocked().keys, IsEmpty());
    EXPECT_EQ(behind(follower), std::nullopt);
}

TEST_P(inspected_order, shows_what_a_message_waits_behind) {
    const auto first = keyed("a"), second = keyed("a"), third = keyed("a");
    put(first);
    const auto second_seq = put(second);
    put(third);
    EXPECT_EQ(behind(first), std::nullopt);
    const order_blocker under_way{first.id.to_string(), outbox_status::pending, std::nullopt};
    EXPECT_EQ(behind(third), under_way);
    EXPECT_TRUE(show(third.id, false)->summary.is_parked());
    EXPECT_FALSE(show(first.id, false)->summary.is_parked());

    // One that was given up needs a person, so it is named before the one that is under way.
    settle({{.seq = second_seq, .to = outbox_status::dead, .at = noon + 2s, .error = "no"}},
           epoch());
    EXPECT_EQ(behind(third),
              (order_blocker{second.id.to_string(), outbox_status::dead, noon + 2s}));
    EXPECT_EQ(behind(second), std::nullopt) << "it waits no longer";
}

TEST_P(inspected_order, finds_messages_by_order_key_tenant_and_correlation_id) {
    auto answered = keyed("a", "acme");
    answered.correlation_id = "c1";
    const auto a = put(answered), b = put(keyed("a")), c = put(keyed("b"));
    const auto dead = put_as(outbox_status::dead, keyed("b", "acme"));
    for (const std::optional status : {std::optional<outbox_status>{}, {outbox_status::pending}}) {
        EXPECT_THAT(seqs({.status = status, .order_key = "a"}), ElementsAre(b, a));
        EXPECT_THAT(seqs({.status = status, .correlation_id = "c1"}), ElementsAre(a));
    }
    EXPECT_THAT(seqs({.tenant = "acme"}), ElementsAre(dead, a));
    EXPECT_THAT(seqs({.order_key = "b"}), ElementsAre(dead, c));
    EXPECT_THAT(seqs({.status = outbox_status::dead, .tenant = "acme", .order_key = "b"}),
                ElementsAre(dead));
    EXPECT_THAT(seqs({.tenant = "acme", .order_key = "z"}), IsEmpty());
}

TEST_P(inspected_order, finds_messages_by_what_caused_them_and_by_words_of_their_error) {
    auto caused = keyed("a");
    caused.causation_id = new_id();
    const auto by = caused.causation_id->to_string();
    const auto a = put(caused);
    const auto b = put_as(outbox_status::dead, keyed("b"));
    put(keyed("c"));
    for (const std::optional status : {std::optional<outbox_status>{}, {outbox_status::pending}})
        EXPECT_THAT(seqs({.status = status, .causation_id = by}), ElementsAre(a));
    EXPECT_EQ(list({.causation_id = by}).rows.front().causation_id, by);
    for (const std::optional status : {std::optional<outbox_status>{}, {outbox_status::dead}})
        for (const auto* const part : {"why", "WH", "hy"})
            EXPECT_THAT(seqs({.status = status, .error = part}), ElementsAre(b)) << part;
    EXPECT_THAT(seqs({.error = "%"}), IsEmpty());
    EXPECT_THAT(seqs({.error = "whys"}), IsEmpty());
    EXPECT_THAT(seqs({.status = outbox_status::pending, .error = "why"}), IsEmpty());
}

TEST_P(inspected_order, tells_the_latest_time_that_anything_was_done_at) {
    const auto newest = [&] {
        return look<std::optional<wall_time>>(
            [](store_reader& from) { return from.inspect().newest(); });
    };
    auto body = sample();
    body.created_at = noon + 24h * 365 * 50;  // Later than the clock of any store here.
    body.expires_at = body.created_at + 1h;
    put(body);
    EXPECT_EQ(newest(), body.created_at);
}

}  // namespace
}  // namespace posthorn::conformance
