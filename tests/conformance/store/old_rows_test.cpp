// What becomes of rows that nobody needs any more, and of the room that they took.
#include "conformance/store/kept_store.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

/// Each look at it takes a millisecond.
class hurried_clock final : public clock {
public:
    [[nodiscard]] wall_time wall() const override { return noon; }
    [[nodiscard]] steady_time steady() const override {
        return steady_time{} + (looks_ += 1) * 1ms;
    }

private:
    mutable int looks_ = 0;
};

TEST_P(kept_store, old_rows_of_sent_messages_go_oldest_first_in_slices_with_their_attempts) {
    const auto bodies = ended(5, outbox_status::sent);
    const auto first = purge(row_kind::sent, noon + 3h, 2);
    EXPECT_EQ(first.rows, 2U);
    EXPECT_TRUE(first.more);
    EXPECT_FALSE(status(bodies[0].id) || status(bodies[1].id));
    const auto last = purge(row_kind::sent, noon + 3h, 2);
    EXPECT_EQ(last.rows, 1U);
    EXPECT_FALSE(last.more);
    EXPECT_EQ(status(bodies[3].id), outbox_status::sent);  // Not before its time.
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 2);
}

TEST_P(kept_store,
       old_rows_of_closed_messages_go_by_the_time_of_their_closing_with_all_that_belongs_to_them) {
    const std::pair<row_kind, outbox_status> kinds[] = {
        {row_kind::dead, outbox_status::dead},
        {row_kind::expired, outbox_status::expired},
        {row_kind::resolved, outbox_status::resolved}};
    for (const auto& [kind, to] : kinds) {
        SCOPED_TRACE(to_string(kind));
        const auto bodies = ended(4, to);
        EXPECT_EQ(purge(kind, noon + 2h).rows, 2U);
        EXPECT_FALSE(status(bodies[0].id) || status(bodies[1].id));
        EXPECT_EQ(status(bodies[2].id), to);  // Not before its time.
        EXPECT_EQ(purge(kind, noon + 24h).rows, 2U);
        for (const auto* table :
             {"outbox_messages", "outbox_attempts", "outbox_closed", "outbox_ended"})
            EXPECT_EQ(number(fmt::format("SELECT count(*) FROM {}", table)), 0) << table;
    }
}

TEST_P(kept_store, old_rows_of_one_kind_leave_those_of_the_others) {
    put(sample());  // Pending.
    for (const auto to : {outbox_status::sent, outbox_status::dead, outbox_status::expired,
                          outbox_status::resolved})
        ended(1, to);
    std::int64_t left = 5;
    for (const auto kind :
         {row_kind::sent, row_kind::dead, row_kind::expired, row_kind::resolved}) {
        EXPECT_EQ(purge(kind, noon + 24h * 365).rows, 1U) << to_string(kind);
        EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), --left) << to_string(kind);
    }
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages WHERE status = 'Pending'"), 1);
}

TEST_P(kept_store, old_rows_do_not_include_a_message_that_was_requeued_after_it_died) {
    const auto bodies = ended(1, outbox_status::dead);
    must([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().requeue(bodies[0].id));
        return {};
    });
    // Though the account still had it, as after a change by hand.
    account_for(number("SELECT seq FROM outbox_messages"), outbox_status::dead, noon);
    purge(row_kind::dead, noon + 24h * 365);
    EXPECT_EQ(status(bodies[0].id), outbox_status::pending);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed"), 0);
}

TEST_P(kept_store, old_rows_of_the_log_go_in_the_order_of_their_making) {
    db();
    const auto change = [&](wall_time at) {
        must(fmt::format("INSERT INTO changes (epoch, at, kind, seqs) VALUES (1, {}, 'x', '1')",
                         at.time_since_epoch().count()));
    };
    for (int i = 0; i < 5; ++i) change(noon + i * 1h);
    EXPECT_EQ(purge(row_kind::changes, noon + 3h, 2).rows, 2U);
    EXPECT_EQ(number("SELECT min(change_seq) FROM changes"), 3);
    EXPECT_EQ(purge(row_kind::changes, noon + 3h).rows, 1U);
    EXPECT_EQ(purge(row_kind::changes, noon + 3h).rows, 0U);
    EXPECT_EQ(number("SELECT count(*) FROM changes"), 2);
}

TEST_P(kept_store, old_rows_of_the_log_are_not_held_back_by_one_from_a_clock_that_was_wrong) {
    db();
    for (const auto at : {noon + 24h * 3650, noon, noon + 1h})
        must(fmt::format("INSERT INTO changes (epoch, at, kind, seqs) VALUES (1, {}, 'x', '1')",
                         at.time_since_epoch().count()));
    EXPECT_EQ(purge(row_kind::changes, noon + 1h).rows, 2U);
    EXPECT_EQ(number("SELECT at FROM changes"), (noon + 1h).time_since_epoch().count());
}

TEST_P(kept_store, old_rows_of_the_inbox_live_no_longer_than_a_row_can_whatever_they_say) {
    db();
    const std::string never = "9223372036854775807";
    receive(1, at(noon), never);
    receive(2, "NULL", never);
    receive(3, at(noon + 24h * 3650), never);  // Of a clock that had jumped.
    receive(4, "-9223372036854775808", never);
    receive(5, at(noon), at(noon + 24h * 10));  // As it should be.
    receive(6, at(noon + 24h * 3650), at(noon + 24h * 3660));
    EXPECT_EQ(shorten(), 4U);
    EXPECT_EQ(number("SELECT count(*) FROM inbox_messages WHERE message_id IN ('1', '5') AND "
                     "expires_at <= " +
                     at(noon + 24h * 30)),
              2);
    EXPECT_EQ(purge(row_kind::received, noon).rows, 2U) << "those that nothing says of";
    EXPECT_EQ(purge(row_kind::received, noon + 24h * 31).rows, 2U);
    EXPECT_EQ(purge(row_kind::received, noon + 24h * 3700).rows, 2U) << "what may come again stays";
}

TEST_P(kept_store, old_rows_of_the_inbox_that_were_processed_in_the_future_have_an_end_too) {
    db();
    for (int id = 1; id <= 3; ++id) receive(id, at(noon), at(noon + 24h * 10));
    receive(4, at(noon + 24h * 3650), at(noon + 24h * 3660));
    receive(5, "9223372036854775807", "9223372036854775807");
    EXPECT_EQ(shorten(), 2U);
    EXPECT_EQ(shorten(), 0U);
    EXPECT_EQ(purge(row_kind::received, noon + 24h * 29).rows, 3U);
    EXPECT_EQ(number("SELECT count(*) FROM inbox_messages"), 2) << "a repeat is still known as one";
    EXPECT_EQ(purge(row_kind::received, noon + 24h * 31).rows, 2U);
}

TEST_P(kept_store, old_rows_of_the_inbox_stay_if_it_is_the_clock_that_is_wrong) {
    db();
    const auto later = noon + 24h * 3650;  // When the clock was right.
    for (int id = 1; id <= 3; ++id) receive(id, at(later), at(later + 24h * 2));
    receive(4, at(noon), at(noon + 24h * 2));
    EXPECT_EQ(shorten(), 0U);
    EXPECT_EQ(purge(row_kind::received, later + 1h).rows, 1U);
}

TEST_P(kept_store, old_rows_that_a_trigger_keeps_are_said) {
    ended(3, outbox_status::sent);
    ended(2, outbox_status::dead);
    swallow("DELETE");
    for (const auto kind : {row_kind::sent, row_kind::dead}) {
        const auto done = run([&](store_transaction& tx) -> result<> {
            const slice room(still_, 2, 1s);
            POSTHORN_TRY(tx.old().purge(kind, noon + 24h * 365, room));
            return {};
        });
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code(), error_code::statement_failed);
    }
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed"), 2) << "nothing is hidden";
}

TEST_P(kept_store, old_rows_stay_where_the_time_of_the_slice_is_over_but_for_one_at_least) {
    ended(6, outbox_status::sent);
    hurried_clock hurried;
    const auto purge_within = [&](std::chrono::milliseconds limit) {
        return write<slice_outcome>([&](store_transaction& tx) {
            return tx.old().purge(row_kind::sent, noon + 24h, slice(hurried, 100, limit));
        });
    };
    const auto some = purge_within(3ms);
    EXPECT_EQ(some.rows, 3U);
    EXPECT_TRUE(some.more);
    EXPECT_EQ(purge_within(0ms).rows, 1U);  // Otherwise it would never end.
    EXPECT_EQ(purge_within(1h).rows, 2U);
    EXPECT_FALSE(purge_within(1h).more);
}

TEST_P(paged_store, old_rows_leave_room_that_goes_back_to_the_disk_page_by_page) {
    must([&](store_transaction& tx) -> result<> {
        for (int i = 0; i < 3'000; ++i) {
            auto body = sample();
            body.payload = '"' + std::string(4'000, 'p') + '"';
            POSTHORN_TRY(tx.outbox().insert(body));
        }
        return {};
    });
    const auto full = number("SELECT page_count FROM pragma_page_count");
    must("DELETE FROM outbox_messages");
    const auto give_back = [&](std::size_t pages) {
        return write<slice_outcome>(
            [&](store_transaction& tx) { return tx.old().give_back(slice(still_, pages, 1h)); });
    };
    const auto first = give_back(100);
    EXPECT_EQ(first.rows, 100U);
    EXPECT_TRUE(first.more);
    EXPECT_EQ(number("SELECT page_count FROM pragma_page_count"), full - 100);
    const auto rest = give_back(1'000'000);
    EXPECT_GT(rest.rows, 1'000U);
    EXPECT_FALSE(rest.more);
    // Some are kept for the messages to come.
    EXPECT_EQ(number("SELECT freelist_count FROM pragma_freelist_count"), 1'024);
    EXPECT_EQ(give_back(1'000'000).rows, 0U);
    put(sample());
    EXPECT_TRUE(succeeded(db().check_integrity()));
}

}  // namespace
}  // namespace posthorn::conformance
