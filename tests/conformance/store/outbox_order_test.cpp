// Messages of one order key go out one after the other; all others flow past them.
#include <fmt/format.h>

#include "conformance/store/ordered_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_P(ordered_store, gives_out_one_message_of_a_key_at_a_time_in_the_order_of_commits) {
    const auto rows = put_many(3);
    for (const auto& row : rows) {
        EXPECT_THAT(due_ids(), ElementsAre(row.body.id));
        settle_as(outbox_status::sent, row);
    }
    EXPECT_THAT(due_ids(), IsEmpty());
}

TEST_P(ordered_store, lets_other_keys_tenants_destinations_and_messages_without_a_key_flow_past) {
    const auto first = keyed(), follower = keyed(), other_key = keyed("o2"), none = sample();
    auto other_tenant = keyed(), other_place = keyed();
    other_tenant.tenant = "acme";
    other_place.destination = "stock";
    for (const auto& body : {first, follower, other_key, other_tenant, other_place, none})
        put(body);
    EXPECT_THAT(due_ids(), UnorderedElementsAre(first.id, other_key.id, other_tenant.id, none.id));
    EXPECT_THAT(ids(due("stock", noon).rows), ElementsAre(other_place.id));
}

TEST_P(ordered_store, announces_a_follower_as_parked_and_again_when_it_may_go) {
    listener heard;
    db().hand_to(&heard);
    const auto rows = put_many(2);
    const auto announced = heard.rows();
    ASSERT_EQ(announced.size(), 2U);
    EXPECT_FALSE(announced[0].parked);
    EXPECT_TRUE(announced[1].parked);
    EXPECT_THAT(heard.released_ids(), IsEmpty());
    settle_as(outbox_status::sent, rows[0]);
    db().hand_to(nullptr);
    EXPECT_THAT(heard.released_ids(), ElementsAre(rows[1].body.id));
    EXPECT_EQ(heard.rows().size(), 2U);  // It was enqueued once.
    EXPECT_EQ(number("SELECT count(*) FROM changes WHERE kind = 'outbox.enqueued'"), 2);
}

TEST_P(ordered_store, releases_nothing_when_the_settling_is_undone) {
    listener heard;
    const auto rows = put_many(2);
    const auto held = epoch();
    db().hand_to(&heard);
    EXPECT_FALSE(run([&](store_transaction& tx) -> result<> {
        const settlement sent{
            .seq = rows[0].seq, .to = outbox_status::sent, .at = noon, .followers_wait = true};
        POSTHORN_TRY(tx.outbox().settle({&sent, 1}, held));
        return fail(error_code::statement_failed, "for the test");
    }));
    db().hand_to(nullptr);
    EXPECT_THAT(heard.released_ids(), IsEmpty());
    EXPECT_THAT(due_ids(), ElementsAre(rows[0].body.id));
}

TEST_P(ordered_store, a_message_that_waits_for_its_retry_holds_up_its_followers) {
    const auto rows = put_many(2);
    settle({{.seq = rows[0].seq,
             .to = outbox_status::pending,
             .at = noon,
             .next_attempt_at = noon + 1min,
             .charged = true,
             .error = "busy",
             .followers_wait = true}},
           epoch());
    EXPECT_THAT(due_ids(), IsEmpty());
    EXPECT_THAT(due_ids(noon + 1min), ElementsAre(rows[0].body.id));
}

TEST_P(ordered_store, a_message_for_later_holds_up_its_followers_and_a_follower_keeps_its_time) {
    auto first = keyed(), second = keyed();
    first.deliver_at = noon + 1min;
    second.deliver_at = noon + 2min;
    outbox_row head{.seq = put(first), .body = first};
    put(second);
    EXPECT_THAT(due_ids(noon + 3min), ElementsAre(first.id));
    settle_as(outbox_status::sent, head);
    EXPECT_THAT(due_ids(noon + 2min - 1ms), IsEmpty());
    EXPECT_THAT(due_ids(noon + 2min), ElementsAre(second.id));
}

TEST_P(ordered_store, one_that_was_given_up_parks_its_followers) {
    for (const auto end : {outbox_status::dead, outbox_status::expired}) {
        auto first = keyed(std::string(to_string(end))), second = first, third = first;
        second.id = new_id();
        third.id = new_id();
        outbox_row head{.seq = put(first), .body = first};
        put(second);
        settle_as(end, head);
        put(third);  // Nor does one that comes later pass.
        EXPECT_THAT(due_ids(noon + 1h), IsEmpty());
        EXPECT_THAT(unblocked(), IsEmpty());
    }
}

TEST_P(ordered_store, one_that_was_given_up_lets_its_followers_pass_if_the_policy_says_so) {
    set_policy(order_policy::pass);
    for (const auto end : {outbox_status::dead, outbox_status::expired}) {
        auto first = keyed(std::string(to_string(end))), second = first, third = first;
        second.id = new_id();
        third.id = new_id();
        outbox_row head{.seq = put(first), .body = first};
        outbox_row next{.seq = put(second), .body = second};
        settle_as(end, head);
        EXPECT_THAT(due_ids(), ElementsAre(second.id));
        outbox_row last{.seq = put(third), .body = third};
        EXPECT_THAT(due_ids(), ElementsAre(second.id));
        settle_as(outbox_status::sent, next);
        EXPECT_THAT(due_ids(), ElementsAre(third.id));
        settle_as(outbox_status::sent, last);
    }
}

TEST_P(ordered_store, a_delivery_to_a_subscriber_passes_those_that_were_given_up) {
    for (const auto end : {outbox_status::dead, outbox_status::expired}) {
        auto first = keyed(std::string(to_string(end)));
        first.destination = "webhook:" + new_id().to_string();
        const auto due_there = [&] { return ids(due(first.destination, noon).rows); };
        auto second = first, third = first;
        second.id = new_id();
        third.id = new_id();
        outbox_row head{.seq = put(first), .body = first};
        outbox_row next{.seq = put(second), .body = second};
        settle_as(end, head);
        outbox_row last{.seq = put(third), .body = third};
        EXPECT_THAT(due_there(), ElementsAre(second.id));
        settle_as(outbox_status::sent, next);
        EXPECT_THAT(due_there(), ElementsAre(third.id));
        settle_as(outbox_status::sent, last);
    }
}

TEST_P(ordered_store, the_policy_is_kept_and_is_to_park_unless_it_was_set) {
    const auto present = [&] {
        return look<order_policy>(
            [](store_reader& reader) { return reader.outbox().present_order_policy(); });
    };
    EXPECT_EQ(present(), order_policy::park);
    set_policy(order_policy::pass);
    reopen();
    EXPECT_EQ(present(), order_policy::pass);
}

TEST_P(ordered_store, one_that_is_resolved_lets_its_followers_go) {
    const auto rows = put_many(2);
    settle_as(outbox_status::resolved, rows[0]);
    EXPECT_THAT(due_ids(), ElementsAre(rows[1].body.id));
}

TEST_P(ordered_store, requeueing_replays_a_key_in_order) {
    const auto rows = put_many(3);
    settle_as(outbox_status::dead, rows[0]);
    EXPECT_THAT(due_ids(noon + 1h), IsEmpty());
    requeue(rows[0]);
    for (const auto& row : rows) {
        EXPECT_THAT(due_ids(), ElementsAre(row.body.id));
        settle_as(outbox_status::sent, row);
    }
}

TEST_P(ordered_store, requeueing_the_later_one_first_keeps_the_order_too) {
    set_policy(order_policy::pass);
    const auto rows = put_many(2);
    for (const auto& row : rows) settle_as(outbox_status::dead, row);
    set_policy(order_policy::park);
    requeue(rows[1]);
    EXPECT_THAT(due_ids(), IsEmpty());
    requeue(rows[0]);
    for (const auto& row : rows) {
        EXPECT_THAT(due_ids(), ElementsAre(row.body.id));
        settle_as(outbox_status::sent, row);
    }
}

TEST_P(ordered_store, one_that_is_due_behind_a_requeued_one_is_told_apart_and_parked_again) {
    set_policy(order_policy::pass);
    const auto rows = put_many(2);
    settle_as(outbox_status::dead, rows[0]);
    requeue(rows[0]);  // After the second was released.
    const auto page = due("billing", noon);
    EXPECT_THAT(ids(page.rows), ElementsAre(rows[0].body.id));
    EXPECT_THAT(ids(page.parked), ElementsAre(rows[1].body.id));
    const settlement park{.seq = rows[1].seq,
                          .to = outbox_status::pending,
                          .at = noon,
                          .next_attempt_at = rows[1].body.expires_at,
                          .parks = true};
    EXPECT_EQ(settle({park}, epoch()), 1);
    EXPECT_THAT(due("billing", noon).parked, IsEmpty());
    settle_as(outbox_status::sent, rows[0]);
    EXPECT_THAT(due_ids(), ElementsAre(rows[1].body.id));
    // Whoever looked before that, and parks it only now, does no harm.
    EXPECT_EQ(settle({park}, epoch()), 0);
    EXPECT_THAT(due_ids(), ElementsAre(rows[1].body.id));
}

TEST_P(ordered_store, a_parked_message_comes_up_at_its_expiry_and_is_never_given_out_to_be_sent) {
    auto first = keyed(), second = keyed(), third = keyed();
    second.expires_at = noon + 1h;
    put(first);
    const auto seq = put(second);
    put(third);
    EXPECT_THAT(due("billing", noon + 1h - 1ms).parked, IsEmpty());
    const auto page = due("billing", noon + 1h);
    EXPECT_THAT(ids(page.rows), ElementsAre(first.id));
    EXPECT_THAT(ids(page.parked), ElementsAre(second.id));
    settle_as(outbox_status::expired, {.seq = seq, .body = second});
    EXPECT_EQ(status(second.id), outbox_status::expired);
    EXPECT_THAT(due_ids(), ElementsAre(first.id));
}

TEST_P(ordered_store, followers_wait_across_a_restart) {
    const auto rows = put_many(2);
    reopen();
    EXPECT_THAT(due_ids(), ElementsAre(rows[0].body.id));
    settle_as(outbox_status::sent, rows[0]);
    reopen();
    EXPECT_THAT(due_ids(), ElementsAre(rows[1].body.id));
}

TEST_P(ordered_store, followers_wait_across_a_take_over) {
    const auto rows = put_many(2);
    const auto old = dispatch();
    const auto present = dispatch();
    const settlement sent{
        .seq = rows[0].seq, .to = outbox_status::sent, .at = noon, .followers_wait = true};
    EXPECT_TRUE(refused_with(settle({sent}, old), error_code::lease_lost));
    EXPECT_THAT(due_ids(), ElementsAre(rows[0].body.id));
    EXPECT_EQ(settle({sent}, present), 1);
    EXPECT_THAT(due_ids(), ElementsAre(rows[1].body.id));
}

TEST_P(ordered_store, holds_for_a_producer_with_plain_sql) {
    db();  // Makes the tables.
    const auto other = disk().connect();
    for (const auto* order : {"'o1'", "'o1'", "'o2'", "''", "''", "NULL"})
        EXPECT_EQ(other->run(fmt::format("INSERT INTO outbox_messages(destination, endpoint,"
                                         " payload, order_key, created_at, expires_at)"
                                         " VALUES ('billing', 'E', '{{}}', {}, {}, {})",
                                         order, noon.time_since_epoch().count(),
                                         (noon + 1h).time_since_epoch().count())),
                  std::nullopt);
    std::vector<std::int64_t> seqs;
    for (const auto& row : due("billing", noon).rows) seqs.push_back(row.seq);
    EXPECT_THAT(seqs, ElementsAre(1, 3, 4, 5, 6));  // An empty key is none.
    settle({{.seq = 1, .to = outbox_status::sent, .at = noon, .followers_wait = true}}, epoch());
    EXPECT_EQ(due("billing", noon).rows.size(), 5U);
}

TEST_P(ordered_store, finds_followers_of_what_was_deleted_by_hand) {
    const auto rows = put_many(2);
    auto other = keyed("o2");
    put(other);
    other.id = new_id();
    put(other);
    EXPECT_THAT(unblocked(), IsEmpty());
    EXPECT_EQ(release({rows[1].seq}), 0);  // It is blocked.
    must(fmt::format("DELETE FROM outbox_messages WHERE seq = {}", rows[0].seq));
    EXPECT_THAT(unblocked(), ElementsAre(rows[1].seq));
    EXPECT_EQ(release(unblocked()), 1);
    EXPECT_THAT(unblocked(), IsEmpty());
    EXPECT_THAT(due_ids(), ::testing::Contains(rows[1].body.id));
}

TEST_P(ordered_store, finds_followers_that_a_new_policy_lets_pass) {
    const auto rows = put_many(2);
    settle_as(outbox_status::dead, rows[0]);
    EXPECT_THAT(unblocked(), IsEmpty());
    set_policy(order_policy::pass);
    EXPECT_THAT(unblocked(), ElementsAre(rows[1].seq));
}

TEST_P(ordered_store, walks_over_all_keys_in_slices) {
    std::vector<std::int64_t> waiting;
    for (const auto* destination : {"a", "b", "c"})
        for (const auto* key : {"k", "l"})
            for (const auto* tenant : {"", "s", "t"}) {
                auto body = keyed(key);
                body.destination = destination;
                body.tenant = tenant;
                const auto head = put(body);
                body.id = new_id();
                waiting.push_back(put(body));
                must(fmt::format("DELETE FROM outbox_messages WHERE seq = {}", head));
            }
    std::vector<std::int64_t> found;
    unblocked_slice slice;
    do {
        slice = look<unblocked_slice>(
            [&](store_reader& reader) { return reader.outbox().unblocked(slice.last, 4); });
        EXPECT_LE(slice.seqs.size(), 4U);
        found.insert(found.end(), slice.seqs.begin(), slice.seqs.end());
    } while (slice.last);
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(waiting));
}

}  // namespace
}  // namespace posthorn::conformance
