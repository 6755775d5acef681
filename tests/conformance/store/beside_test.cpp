// What a program has changed in the tables beside the messages leads to them again.
#include "base/time/clock.hpp"
#include "conformance/store/kept_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(kept_store, rows_beside_messages_stay_where_nothing_is_wrong) {
    for (const auto to : {outbox_status::sent, outbox_status::dead, outbox_status::expired,
                          outbox_status::resolved})
        ended(3, to);
    put(sample());
    auto later = sample();
    later.deliver_at = noon + 1h;
    put(later);
    auto first = sample();
    first.order_key = "acct-7";
    first.tenant = "north";
    auto second = first;
    second.id = new_id();
    put(first);
    put(second);
    const auto other = disk().connect();
    for (const auto* values : {"0, NULL", "1900000000000, 'acct-8'", "9000000000000, ''"})
        ASSERT_EQ(other->run(fmt::format("INSERT INTO outbox_messages (destination, endpoint, "
                                         "payload, next_retry_at, order_key) VALUES ('billing', "
                                         "'Charge', '{{}}', {})",
                                         values)),
                  std::nullopt);
    settle_down();
    group();
    const auto before = beside();
    EXPECT_EQ(mend(), 0U);
    EXPECT_EQ(beside(), before);
}

TEST_P(kept_store, rows_beside_closed_messages_come_back_if_they_were_deleted) {
    ended(3, outbox_status::dead);
    ended(2, outbox_status::expired);
    ended(1, outbox_status::resolved);
    settle_down();
    const auto other = disk().connect();
    ASSERT_EQ(other->run("DELETE FROM outbox_closed"), std::nullopt);
    EXPECT_EQ(mend(), 6U);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed AS c JOIN outbox_messages AS m ON "
                     "m.seq = c.seq AND m.status = c.status"),
              6);
    group();
    EXPECT_EQ(number("SELECT sum(dead) FROM outbox_causes"), 3);
    EXPECT_EQ(purge(row_kind::expired, noon + 1h).rows, 2U)
        << "their time began when they were found";
    EXPECT_EQ(mend(), 0U);
}

TEST_P(kept_store, rows_beside_messages_go_that_belong_to_none) {
    ended(1, outbox_status::sent);
    settle_down();
    const auto other = disk().connect();
    for (const auto* sql :
         {"INSERT INTO outbox_closed (seq, status, at) VALUES (1, 'Dead', 0), (77, 'Expired', 0)",
          "INSERT INTO outbox_attempts (seq, attempt, at, error) VALUES (78, 1, 0, 'refused')",
          "INSERT INTO outbox_ended (seq) VALUES (79)"})
        ASSERT_EQ(other->run(sql), std::nullopt);
    EXPECT_EQ(mend(), 4U);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts WHERE seq > 70"), 0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_ended"), 0);
}

TEST_P(kept_store, rows_of_causes_are_counted_anew_if_a_program_has_changed_them) {
    ended(3, outbox_status::dead);
    settle_down();
    group();
    const auto other = disk().connect();
    ASSERT_EQ(other->run("UPDATE outbox_causes SET dead = -5"), std::nullopt);
    EXPECT_EQ(mend(), 1U);
    EXPECT_EQ(number("SELECT sum(dead) FROM outbox_causes"), 3);
    ASSERT_EQ(other->run("DELETE FROM outbox_causes"), std::nullopt);
    EXPECT_EQ(mend(), 3U);
    group();
    EXPECT_EQ(number("SELECT sum(dead) FROM outbox_causes"), 3);
}

TEST_P(kept_store, rows_that_ended_in_the_future_have_ended_now_unless_most_of_them_have) {
    ended(5, outbox_status::sent);
    ended(5, outbox_status::expired);
    settle_down();
    const auto other = disk().connect();
    const auto now = real_clock{}.wall();  // The store's.
    const auto set = [&](wall_time time, int after) {
        EXPECT_EQ(other->run(fmt::format("UPDATE outbox_messages SET sent_at = {} WHERE seq > {} "
                                         "AND status = 'Sent'",
                                         at(time), after)),
                  std::nullopt);
        EXPECT_EQ(other->run(fmt::format("UPDATE outbox_closed SET at = {} WHERE seq > {}",
                                         at(time), after + 5)),
                  std::nullopt);
    };
    set(now + 24h * 365, 0);
    EXPECT_EQ(mend(100), 0U) << "it is the clock of this node that is wrong";
    set(now, 1);
    EXPECT_EQ(mend(100), 2U);
    EXPECT_EQ(mend(100), 0U);
    EXPECT_EQ(purge(row_kind::sent, now + 1h).rows, 5U);
    EXPECT_EQ(purge(row_kind::expired, now + 1h).rows, 5U);
}

}  // namespace
}  // namespace posthorn::conformance
