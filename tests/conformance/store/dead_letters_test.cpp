// What operators see of messages that were given up.
#include "conformance/store/dead_letters.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(store_of_dead_letters, lists_the_newest_first_in_pages) {
    std::vector<std::int64_t> all;
    for (int i = 0; i < 5; ++i) all.push_back(bury(sample()));
    put(sample());
    const auto first = list({}, 0, 2);
    ASSERT_EQ(first.rows.size(), 2U);
    EXPECT_EQ(first.rows[0].summary.seq, all[4]);
    EXPECT_EQ(first.rows[0].summary.last_error, "400 from billing");
    EXPECT_EQ(first.rows[0].closed_at, noon + 1s);
    EXPECT_EQ(first.rows[0].cause_text, "400 from billing");
    EXPECT_EQ(first.next, all[3]);
    const auto last = list({}, all[1], 2);
    EXPECT_EQ(last.rows.size(), 1U);
    EXPECT_EQ(last.next, 0);
}

TEST_P(store_of_dead_letters, lists_dead_expired_and_resolved_apart) {
    const auto dead = bury(sample());
    const auto expired = close(sample(), outbox_status::expired);
    const auto resolved = close(sample(), outbox_status::resolved);
    EXPECT_THAT(seqs(), ElementsAre(dead));
    EXPECT_THAT(seqs({.status = outbox_status::expired}), ElementsAre(expired));
    EXPECT_THAT(seqs({.status = outbox_status::resolved}), ElementsAre(resolved));
}

TEST_P(store_of_dead_letters, finds_by_each_field_alone_and_together) {
    auto special = sample("stock");
    special.endpoint = "Reserve";
    special.tenant = "north";
    special.order_key = "o7";
    special.correlation_id = "case-7";
    special.causation_id = new_id();
    const auto b = bury(special, "No Answer from 10.0.0.1", noon + 10s);
    const auto a = bury(sample());
    const auto group = list().rows.back().cause;
    ASSERT_GT(group, 0);
    for (const auto& wanted :
         {dead_filter{.destination = "stock"}, dead_filter{.endpoint = "Reserve"},
          dead_filter{.tenant = "north"}, dead_filter{.order_key = "o7"},
          dead_filter{.correlation_id = "case-7"},
          dead_filter{.causation_id = special.causation_id->to_string()},
          dead_filter{.error = "no answer"}, dead_filter{.cause = group},
          dead_filter{.since = noon + 10s}, dead_filter{.destination = "stock", .cause = group}}) {
        EXPECT_THAT(seqs(wanted), ElementsAre(b));
        EXPECT_THAT(find(wanted).seqs, ElementsAre(b));
    }
    EXPECT_THAT(seqs({.correlation_id = "case"}), IsEmpty());
    EXPECT_THAT(seqs({.until = noon + 10s}), ElementsAre(a));
    EXPECT_THAT(seqs({.destination = "billing", .cause = group}), IsEmpty());
    EXPECT_THAT(seqs({.past = noon + 24h - 1ms}), IsEmpty());
    EXPECT_THAT(seqs({.past = noon + 24h}), ElementsAre(a, b));
}

TEST_P(store_of_dead_letters, finds_slices_in_the_order_of_commit) {
    std::vector<std::int64_t> all;
    for (int i = 0; i < 5; ++i) all.push_back(bury(sample(i % 2 == 0 ? "billing" : "stock")));
    const auto first = find({.destination = "billing"}, 0, 2);
    EXPECT_THAT(first.seqs, ElementsAre(all[0], all[2]));
    EXPECT_EQ(first.highest, all[4]);
    const auto rest = find({.destination = "billing"}, first.next, 2);
    EXPECT_THAT(rest.seqs, ElementsAre(all[4]));
    EXPECT_EQ(rest.next, 0);
}

TEST_P(store_of_dead_letters, groups_what_died_of_the_same_thing_largest_first) {
    auto other = sample("stock");
    other.endpoint = "Reserve";
    bury(sample(), "timed out after 5 ms", noon + 1s);
    bury(other, "timed out after 5 ms", noon + 2s);
    const auto last = sample();
    bury(last, "timed out after 7 ms", noon + 3s);
    bury(sample(), "status 500", noon + 4s);
    const auto seen = groups();
    ASSERT_EQ(seen.groups.size(), 3U);
    EXPECT_EQ(seen.groups[0].text, "timed out after <n> ms");
    EXPECT_EQ(seen.groups[0].destination, "billing");
    EXPECT_EQ(seen.groups[0].endpoint, "OrderApproved");
    EXPECT_EQ(seen.groups[0].count, 2);
    EXPECT_EQ(seen.groups[0].first_at, noon + 1s);
    EXPECT_EQ(seen.groups[0].last_at, noon + 3s);
    EXPECT_EQ(seen.groups[0].example, last.id.to_string());
    EXPECT_EQ(seen.ungrouped, 0);
    EXPECT_FALSE(seen.more);
    EXPECT_EQ(groups("stock").groups.size(), 1U);
    EXPECT_EQ(groups({}, 2).groups.size(), 2U);
    EXPECT_TRUE(groups({}, 2).more);
}

TEST_P(store_of_dead_letters, a_group_counts_those_that_are_dead_now) {
    const auto a = sample(), b = sample(), c = sample(), d = sample();
    for (const auto& each : {a, b, c, d}) bury(each);
    ASSERT_TRUE(succeeded(change(a.id, {.what = dead_action::requeue})));
    EXPECT_EQ(groups().groups.at(0).count, 3);
    ASSERT_TRUE(succeeded(change(b.id, {.what = dead_action::resolve, .resolution = "paid"})));
    EXPECT_EQ(groups().groups.at(0).count, 2);
    ASSERT_TRUE(succeeded(change(c.id, {.what = dead_action::remove})));
    EXPECT_EQ(groups().groups.at(0).count, 1);
    ASSERT_TRUE(succeeded(edit(d.id, {.endpoint = "Reserve"})));
    ASSERT_EQ(groups().groups.size(), 1U);
    EXPECT_EQ(groups().groups[0].endpoint, "Reserve");
    EXPECT_EQ(groups().groups[0].count, 1);
}

TEST_P(store_of_dead_letters, what_was_closed_by_hand_is_listed_and_grouped_when_asked) {
    const auto body = sample();
    const auto seq = put(body);
    ASSERT_EQ(disk().connect()->run(
                  "UPDATE outbox_messages SET status = 'Dead', last_error = 'by hand 1'"),
              std::nullopt);
    EXPECT_THAT(seqs(), ElementsAre(seq));
    EXPECT_EQ(groups().ungrouped, 1);
    EXPECT_THAT(groups().groups, IsEmpty());
    const auto group = [&] {
        return *in_unit<std::int64_t>(
            [](dead_letter_table& table) { return table.group_some(500); });
    };
    EXPECT_EQ(group(), 1);
    EXPECT_EQ(group(), 0);
    EXPECT_EQ(groups().ungrouped, 0);
    ASSERT_EQ(groups().groups.size(), 1U);
    EXPECT_EQ(groups().groups[0].text, "by hand <n>");
}

TEST_P(store_of_dead_letters, past_ten_thousand_causes_the_rest_are_one) {
    bury(sample(), "first");
    must(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT INTO outbox_causes (destination, endpoint, cause, dead, first_at,"
                    " last_at) SELECT 'x', 'y', i, 1, 0, 0 FROM n",
                    causes_max - 1));
    const auto a = bury(sample(), "one more"), b = bury(sample("stock"), "and another");
    const auto known = bury(sample(), "first");
    EXPECT_EQ(list().rows.at(2).cause_text, "other");
    EXPECT_EQ(list().rows.at(0).summary.seq, known);
    EXPECT_EQ(list().rows.at(0).cause_text, "first");
    const auto other = list().rows.at(1).cause;
    EXPECT_THAT(seqs({.cause = other}), ElementsAre(b, a));
}

TEST_P(store_of_dead_letters, causes_that_nobody_dies_of_any_more_make_room) {
    bury(sample(), "first");
    must(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT INTO outbox_causes (destination, endpoint, cause, dead, first_at,"
                    " last_at) SELECT 'x', 'y', i, 0, 0, 0 FROM n",
                    causes_max));
    bury(sample(), "new");
    EXPECT_EQ(list().rows.at(0).cause_text, "new");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_causes"), 2);
}

TEST_P(store_of_dead_letters, shows_the_state_of_any_message_and_of_none_that_is_not_there) {
    const auto body = sample();
    put(body);
    EXPECT_EQ(row(body.id)->summary.status, outbox_status::pending);
    EXPECT_EQ(row(body.id)->closed_at, std::nullopt);
    EXPECT_EQ(row(body.id)->state.size(), 16U);
    EXPECT_FALSE(row(new_id()));
}

TEST_P(store_of_dead_letters, two_messages_that_differ_have_states_that_differ) {
    auto a = sample();
    const auto b = sample();
    bury(a);
    bury(b);
    EXPECT_NE(row(a.id)->state, row(b.id)->state);
    EXPECT_EQ(list().rows.at(0).state, row(b.id)->state);
}

}  // namespace
}  // namespace posthorn::conformance
