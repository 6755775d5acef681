// A repeated dedupe key gives the first message, and sends no second one.
#include <fmt/format.h>

#include "conformance/store/ordered_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST_P(ordered_store, a_repeated_dedupe_key_gives_the_first_id_and_stores_nothing) {
    listener heard;
    db().hand_to(&heard);
    auto first = sample(), again = sample();
    first.dedupe_key = again.dedupe_key = "charge-o1";
    const auto stored = insert(first);
    EXPECT_EQ(stored, (enqueued{.seq = 1, .id = first.id, .repeated = false}));
    EXPECT_EQ(insert(again), (enqueued{.seq = 1, .id = first.id, .repeated = true}));
    EXPECT_EQ(insert(first), (enqueued{.seq = 1, .id = first.id, .repeated = true}));
    db().hand_to(nullptr);
    EXPECT_EQ(heard.rows().size(), 1U);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM changes WHERE kind = 'outbox.enqueued'"), 1);
}

TEST_P(ordered_store, a_dedupe_key_counts_for_its_destination_only) {
    auto here = sample(), there = sample("stock"), another = sample();
    here.dedupe_key = there.dedupe_key = "k";
    another.dedupe_key = "l";
    for (const auto& body : {here, there, another}) EXPECT_FALSE(insert(body).repeated);
}

TEST_P(ordered_store, a_dedupe_key_is_known_whatever_became_of_the_first) {
    for (const auto end : {outbox_status::sent, outbox_status::dead, outbox_status::expired,
                           outbox_status::resolved}) {
        auto first = sample(), again = sample();
        first.dedupe_key = again.dedupe_key = std::string(to_string(end));
        settle_as(end, {.seq = put(first), .body = first});
        EXPECT_EQ(insert(again).id, first.id);
    }
}

TEST_P(ordered_store, a_dedupe_key_is_known_within_a_unit_and_after_a_restart) {
    auto first = sample(), again = sample();
    first.dedupe_key = again.dedupe_key = "k";
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(first));
        const auto repeated = tx.outbox().insert(again);
        POSTHORN_TRY(repeated);
        EXPECT_EQ(repeated->id, first.id);
        return {};
    });
    reopen();
    EXPECT_EQ(insert(again).id, first.id);
}

TEST_P(ordered_store, a_dedupe_key_is_forgotten_with_its_message) {
    auto first = sample(), again = sample();
    first.dedupe_key = again.dedupe_key = "k";
    settle_as(outbox_status::sent, {.seq = put(first), .body = first});
    const real_clock time;
    EXPECT_EQ(write<slice_outcome>([&](store_transaction& tx) {
                  return tx.old().purge(row_kind::sent, noon + 1h, slice(time, 10, 1h));
              }).rows,
              1U);
    EXPECT_EQ(insert(again).id, again.id);
}

TEST_P(ordered_store, a_repeated_dedupe_key_of_plain_sql_is_resolved_and_names_the_first) {
    auto first = sample();
    first.dedupe_key = "k";
    put(first);
    const auto other = disk().connect();
    for (const auto* key : {"'k'", "'other'", "''", "''"})
        EXPECT_EQ(other->run(fmt::format("INSERT INTO outbox_messages(destination, endpoint,"
                                         " payload, dedupe_key, created_at, expires_at)"
                                         " VALUES ('billing', 'E', '{{}}', {}, {}, {})",
                                         key, noon.time_since_epoch().count(),
                                         (noon + 1h).time_since_epoch().count())),
                  std::nullopt);
    EXPECT_EQ(text("SELECT status || ': ' || resolution FROM outbox_messages WHERE seq = 2"),
              "Resolved: repeats " + first.id.to_string());
    std::vector<std::int64_t> due_seqs;
    for (const auto& row : due("billing", noon).rows) due_seqs.push_back(row.seq);
    EXPECT_THAT(due_seqs, ElementsAre(1, 3, 4, 5));  // An empty key is none.
}

TEST_P(ordered_store, a_repeat_does_not_stand_in_the_way_of_its_order_key) {
    auto first = keyed(), again = keyed(), next = keyed();
    first.dedupe_key = again.dedupe_key = "k";
    const outbox_row head{.seq = put(first), .body = first};
    EXPECT_TRUE(insert(again).repeated);
    put(next);
    settle_as(outbox_status::sent, head);
    EXPECT_THAT(due_ids(), ElementsAre(next.id));
}

}  // namespace
}  // namespace posthorn::conformance
