// Other processes on the same database, and the log of changes that others follow.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

constexpr auto plain =
    "INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('billing', 'Charge', "
    "'{}')";

TEST_P(watched_store, the_commit_of_another_is_noticed_once) {
    ASSERT_TRUE(succeeded(db().changed_by_others()));
    EXPECT_EQ(db().changed_by_others(), false);
    const auto other = disk().connect();
    ASSERT_EQ(other->run(plain), std::nullopt);
    EXPECT_EQ(db().changed_by_others(), true);
    EXPECT_EQ(db().changed_by_others(), false);
    ASSERT_EQ(other->run(plain), std::nullopt);
    ASSERT_EQ(other->run(plain), std::nullopt);
    EXPECT_EQ(db().changed_by_others(), true);
    EXPECT_EQ(db().changed_by_others(), false);
}

TEST_P(watched_store, own_commits_are_not_those_of_others) {
    ASSERT_TRUE(succeeded(db().changed_by_others()));
    for (int i = 0; i < 5; ++i) {
        put(sample());
        EXPECT_EQ(db().changed_by_others(), false);
    }
    answers arrived;
    db().barrier(arrived.to(0));
    arrived.wait_for(1);
    EXPECT_EQ(db().changed_by_others(), false);
}

TEST_P(watched_store, the_commit_of_another_is_noticed_between_own_ones) {
    listener heard;
    db().hand_to(&heard);
    ASSERT_TRUE(succeeded(db().changed_by_others()));
    put(sample());
    ASSERT_EQ(disk().connect()->run(plain), std::nullopt);
    put(sample());
    // Whoever looks first learns of it: the writer, which tells the listener, or this call.
    const auto changed = db().changed_by_others();
    ASSERT_TRUE(succeeded(changed));
    EXPECT_EQ((*changed ? 1 : 0) + heard.foreign(), 1);
    db().hand_to(nullptr);
}

TEST_P(watched_store, a_transaction_that_another_rolled_back_is_no_commit) {
    ASSERT_TRUE(succeeded(db().changed_by_others()));
    const auto other = disk().connect();
    ASSERT_EQ(other->run("BEGIN"), std::nullopt);
    ASSERT_EQ(other->run(plain), std::nullopt);
    EXPECT_EQ(db().changed_by_others(), false);
    ASSERT_EQ(other->run("ROLLBACK"), std::nullopt);
    EXPECT_EQ(db().changed_by_others(), false);
}

TEST_P(store, a_reader_sees_the_commits_of_others) {
    db();
    ASSERT_EQ(disk().connect()->run(plain), std::nullopt);
    EXPECT_EQ(due("billing", disk().now()).rows.size(), 1U);
}

TEST_P(store, a_unit_sees_the_commits_of_others) {
    make_tables();
    ASSERT_EQ(disk().connect()->run("INSERT INTO t VALUES (8)"), std::nullopt);
    std::int64_t seen = -1;
    must([&](store_transaction& tx) {
        return tx.query("SELECT n FROM t", {}, [&](const sql_row& row) { seen = row.integer(0); });
    });
    EXPECT_EQ(seen, 8);
}

TEST_P(store, another_may_change_the_schema_while_the_store_is_open) {
    make_tables();
    must("INSERT INTO t VALUES (1)");
    ASSERT_EQ(disk().connect()->run("ALTER TABLE t ADD COLUMN more INTEGER"), std::nullopt);
    must("INSERT INTO t(n, more) VALUES (1, 2)");
    put(sample());
    EXPECT_EQ(number("SELECT sum(more) FROM t"), 2);
    EXPECT_EQ(due("billing", noon).rows.size(), 1U);
}

TEST_P(store, a_barrier_completes) {
    answers arrived;
    db().barrier(arrived.to(0));
    arrived.wait_for(1);
    EXPECT_TRUE(succeeded(arrived.at(0)));
}

TEST_P(store, a_barrier_completes_after_the_units_before_it) {
    make_tables();
    answers arrived;
    db().submit({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(0)});
    db().barrier(arrived.to(1));
    arrived.wait_for(2);
    EXPECT_THAT(arrived.order(), ::testing::ElementsAre(0, 1));
}

// The log of changes.

std::vector<foreign_connection::row> changes(storage& disk) {
    return disk.connect()->rows("SELECT kind, seqs FROM changes ORDER BY change_seq");
}

foreign_connection::row change(const std::string& kind, std::int64_t seq) {
    return {kind, std::to_string(seq)};
}

TEST_P(store, every_change_of_state_is_logged) {
    const auto epoch = dispatch();
    std::vector<foreign_connection::row> expected;
    const std::vector<std::pair<outbox_status, std::string>> kinds{
        {outbox_status::sent, "outbox.sent"},
        {outbox_status::pending, "outbox.retry"},
        {outbox_status::dead, "outbox.dead"},
        {outbox_status::expired, "outbox.expired"},
        {outbox_status::resolved, "outbox.resolved"}};
    for (const auto& [to, kind] : kinds) {
        const auto seq = put(sample());
        expected.push_back(change("outbox.enqueued", seq));
        ASSERT_EQ(settle({{.seq = seq, .to = to, .at = noon, .next_attempt_at = noon}}, epoch), 1);
        expected.push_back(change(kind, seq));
    }
    EXPECT_EQ(changes(disk()), expected);
    EXPECT_EQ(number("SELECT epoch FROM changes ORDER BY change_seq DESC LIMIT 1"), epoch);
}

TEST_P(store, taking_a_message_in_is_logged) {
    write<bool>([&](store_transaction& tx) {
        return tx.inbox().insert({.key = {"orders", new_id()}, .expires_at = noon});
    });
    const auto logged = changes(disk());
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_EQ(logged.front().front(), "inbox.received");
}

TEST_P(store, the_completion_of_a_claim_is_logged) {
    const inbox_key key{"orders", new_id()};
    write<bool>([&](store_transaction& tx) {
        return tx.inbox().claim(
            {.key = key, .owner = "a", .until = noon + 30s, .expires_at = noon + 48h}, noon);
    });
    write<bool>([&](store_transaction& tx) {
        return tx.inbox().complete({.key = key, .processed_at = noon, .expires_at = noon + 48h},
                                   "a");
    });
    EXPECT_EQ(number("SELECT count(*) FROM changes WHERE kind = 'inbox.received'"), 1);
}

TEST_P(store, what_changed_nothing_is_not_logged) {
    const auto epoch = dispatch();
    const auto seq = put(sample());
    ASSERT_EQ(settle({{.seq = seq, .at = noon}}, epoch), 1);
    const auto before = changes(disk());
    ASSERT_EQ(settle({{.seq = seq, .at = noon}}, epoch), 0);
    EXPECT_FALSE(settle({{.seq = seq, .at = noon}}, epoch - 1));
    EXPECT_FALSE(run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().insert(sample()));
        return fail(error_code::no_handler, "never mind");
    }));
    EXPECT_EQ(changes(disk()), before);
}

TEST_P(store, the_log_numbers_changes_without_repeating) {
    for (int i = 0; i < 3; ++i) put(sample());
    const auto last = number("SELECT max(change_seq) FROM changes");
    must("DELETE FROM changes");
    reopen();
    put(sample());
    EXPECT_GT(number("SELECT max(change_seq) FROM changes"), last);
}

}  // namespace
}  // namespace posthorn::conformance
