#include "store/sqlite/tables/outbox_replay.hpp"

#include "unit/store/sqlite/a_service.hpp"

namespace posthorn::sqlite {
namespace {

using namespace std::chrono_literals;

class a_replay : public a_service {
protected:
    /// A message that was acknowledged at `sent_at`, in milliseconds after `start`.
    void sent(const std::string& name, std::int64_t sent_at, const std::string& more = "NULL",
              const std::string& destination = "stock") {
        commit(
            "INSERT INTO outbox_messages (destination, endpoint, payload, correlation_id,"
            " status, sent_at, retry_count, order_key, expires_at) VALUES ('" +
            destination + "', 'Note', '{}', '" + name + "', 'Sent', " +
            std::to_string(ms(start_) + sent_at) + ", 3, " + more + ", " +
            std::to_string(ms(start_ + 24h)) + ")");
    }
    result<replay_progress> replay(const replay_range& range, std::size_t limit = 500) {
        replay_progress all;
        result<> outcome;
        for (int slices = 0; !all.is_done && slices < 100; ++slices)
            store_->submit({.work = [&](store_transaction& tx) -> result<> {
                                auto slice = replay_sent(tx, range, now_, all, limit);
                                POSTHORN_TRY(slice);
                                all = *slice;
                                return {};
                            },
                            .done = [&](result<> done) { outcome = std::move(done); }});
        if (!outcome) return std::unexpected(outcome.error());
        return all;
    }
    [[nodiscard]] replay_range since(std::int64_t from) const {
        return {.since = start_ + std::chrono::milliseconds(from), .until = start_ + 1h};
    }
    [[nodiscard]] std::string names(const std::string& where) const {
        return test::sqlite_file(database_).text(
            "SELECT coalesce(group_concat(correlation_id, ' '), '') FROM (SELECT correlation_id"
            " FROM outbox_messages WHERE " +
            where + " ORDER BY seq)");
    }
    static std::int64_t ms(wall_time time) { return time.time_since_epoch().count(); }

    wall_time start_ = time_.wall();
    wall_time now_ = start_ + 2h;
};

TEST_F(a_replay, makes_what_was_acknowledged_in_its_time_pending_with_all_retries) {
    sent("before", 99);
    sent("first", 100);
    sent("last", 3'599'999);
    sent("after", 3'600'000);
    const auto done = replay(since(100));
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(done->replayed, 2);
    EXPECT_EQ(names("status = 'Pending' AND retry_count = 0 AND next_retry_at = 0"
                    " AND sent_at IS NULL"),
              "first last");
    EXPECT_EQ(names("status = 'Sent'"), "before after");
}

TEST_F(a_replay, goes_through_all_slices_even_where_times_are_equal) {
    for (int i = 0; i < 7; ++i) sent(std::to_string(i), 100);
    sent("other", 100, "NULL", "billing");
    sent("later", 200);
    auto range = since(100);
    range.destination = "stock";
    const auto done = replay(range, 2);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(done->replayed, 8);
    EXPECT_EQ(names("status = 'Sent'"), "other");
}

TEST_F(a_replay, leaves_messages_past_their_time_and_counts_them) {
    sent("old", 100);
    now_ = start_ + 24h;
    const auto done = replay(since(0));
    ASSERT_TRUE(done);
    EXPECT_EQ(done->replayed, 0);
    EXPECT_EQ(done->expired, 1);
    EXPECT_EQ(names("status = 'Sent'"), "old");
}

TEST_F(a_replay, is_counted_before_it_is_made) {
    sent("one", 100);
    sent("other", 100, "NULL", "billing");
    sent("old", 200);
    commit("UPDATE outbox_messages SET expires_at = 1 WHERE correlation_id = 'old'");
    auto range = since(0);
    range.destination = "stock";
    replay_progress all;
    while (!all.is_done)
        ASSERT_TRUE(store_->read([&](store_reader& from) -> result<> {
            auto slice = count_sent(from, range, now_, all, 1);
            POSTHORN_TRY(slice);
            all = *slice;
            return {};
        }));
    EXPECT_EQ(all.replayed, 1);
    EXPECT_EQ(all.expired, 1);
    EXPECT_EQ(names("status = 'Sent'"), "one other old");
    const auto done = replay(range);
    ASSERT_TRUE(done);
    EXPECT_EQ(done->replayed, all.replayed);
    EXPECT_EQ(done->expired, all.expired);
}

TEST_F(a_replay, lets_the_messages_of_an_order_key_go_one_after_the_other) {
    sent("first", 100, "'k'");
    sent("second", 200, "'k'");
    sent("other", 150, "'l'");
    ASSERT_TRUE(replay(since(0), 1));
    EXPECT_EQ(names("next_retry_at = 0"), "first other");
    EXPECT_EQ(names("next_retry_at = expires_at"), "second");
}

TEST_F(a_replay, takes_an_empty_order_key_for_none) {
    sent("first", 100, "''");
    sent("second", 200, "''");
    ASSERT_TRUE(replay(since(0)));
    EXPECT_EQ(names("next_retry_at = 0"), "first second");
}

TEST_F(a_replay, leaves_what_was_never_acknowledged_alone) {
    for (const auto* status : {"Pending", "Dead", "Expired", "Resolved"})
        commit(std::string("INSERT INTO outbox_messages (destination, endpoint, payload,"
                           " correlation_id, status) VALUES ('stock', 'Note', '{}', '") +
               status + "', '" + status + "')");
    EXPECT_EQ(replay(since(0))->replayed, 0);
    EXPECT_EQ(names("status = 'Pending'"), "Pending");
}

TEST_F(a_replay, is_written_into_the_log_of_changes) {
    sent("one", 100);
    sent("two", 100);
    ASSERT_TRUE(replay(since(0)));
    EXPECT_EQ(test::sqlite_file(database_).text(
                  "SELECT seqs FROM changes WHERE kind = 'outbox.replayed'"),
              "1-2");
}

TEST_F(a_replay, finds_its_rows_through_an_index) {
    test::sqlite_file file(database_);
    sqlite3_stmt* query = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(file.handle(),
                                 "EXPLAIN QUERY PLAN SELECT seq, sent_at, destination, expires_at"
                                 " FROM outbox_messages WHERE status = 'Sent'"
                                 " AND (sent_at, seq) > (?, ?) AND sent_at < ?"
                                 " ORDER BY sent_at, seq LIMIT ?",
                                 -1, &query, nullptr),
              SQLITE_OK);
    std::string text;
    while (sqlite3_step(query) == SQLITE_ROW)
        text += reinterpret_cast<const char*>(sqlite3_column_text(query, 3));
    sqlite3_finalize(query);
    EXPECT_NE(text.find("USING INDEX idx_outbox_sent"), std::string::npos) << text;
    EXPECT_EQ(text.find("TEMP B-TREE"), std::string::npos) << text;
}

}  // namespace
}  // namespace posthorn::sqlite
