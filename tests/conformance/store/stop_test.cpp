// The end of a store, and its next beginning.
#include <thread>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::SizeIs;

TEST_P(store, a_unit_after_stop_is_closed) {
    must("CREATE TABLE t(n INTEGER)");
    db().stop();
    EXPECT_TRUE(refused_with(run(execute("INSERT INTO t VALUES (1)")), error_code::closed));
    reopen();
    EXPECT_EQ(number("SELECT count(*) FROM t"), 0);
}

TEST_P(store, several_units_after_stop_are_each_closed) {
    db().stop();
    std::vector<work> group;
    for (int i = 0; i < 3; ++i) group.push_back(execute("CREATE TABLE t(n INTEGER)"));
    for (const auto& outcome : run_all(std::move(group)))
        EXPECT_TRUE(refused_with(outcome, error_code::closed));
}

TEST_P(store, a_barrier_after_stop_is_closed) {
    db().stop();
    answers arrived;
    db().barrier(arrived.to(0));
    arrived.wait_for(1);
    EXPECT_TRUE(refused_with(arrived.at(0), error_code::closed));
}

TEST_P(store, stop_commits_what_was_queued) {
    must("CREATE TABLE t(n INTEGER)");
    answers arrived;
    for (std::size_t i = 0; i < 200; ++i)
        db().submit({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(i)});
    db().stop();
    EXPECT_THAT(arrived.times(), AllOf(SizeIs(200), Each(1)));
    for (std::size_t i = 0; i < 200; ++i) EXPECT_TRUE(succeeded(arrived.at(i)));
    EXPECT_EQ(number("SELECT count(*) FROM t"), 200);
}

TEST_P(store, stop_commits_lazy_units) {
    must("CREATE TABLE t(n INTEGER)");
    answers arrived;
    db().submit({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(0), .lazy = true});
    db().stop();
    EXPECT_THAT(arrived.times(), AllOf(SizeIs(1), Each(1)));
    EXPECT_TRUE(succeeded(arrived.at(0)));
    EXPECT_EQ(number("SELECT count(*) FROM t"), 1);
}

TEST_P(store, stop_twice_is_safe) {
    must("CREATE TABLE t(n INTEGER)");
    db().stop();
    db().stop();
    EXPECT_TRUE(refused_with(run(execute("INSERT INTO t VALUES (1)")), error_code::closed));
}

TEST_P(store, stop_of_a_store_that_did_nothing_is_safe) {
    db().stop();
    reopen();
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 0);
}

TEST_P(store, everything_committed_is_there_after_reopening) {
    must("CREATE TABLE t(n INTEGER)");
    must("INSERT INTO t VALUES (7)");
    const auto body = sample();
    put(body);
    const inbox_key key{"orders", new_id()};
    write<bool>([&](store_transaction& tx) {
        return tx.inbox().insert({.key = key, .processed_at = noon, .expires_at = noon});
    });
    const auto epoch = dispatch();
    reopen();
    EXPECT_EQ(number("SELECT n FROM t"), 7);
    EXPECT_EQ(status(body.id), outbox_status::pending);
    EXPECT_EQ(due("billing", noon).rows.size(), 1U);
    EXPECT_TRUE(look<std::optional<inbox_entry>>(
        [&](store_reader& reader) { return reader.inbox().find(key); }));
    const auto held = write<std::optional<lease>>(
        [](store_transaction& tx) { return tx.leases().find(dispatcher_lease); });
    ASSERT_TRUE(held);
    EXPECT_EQ(held->epoch, epoch);
}

TEST_P(store, opening_again_and_again_changes_no_row) {
    db();
    const auto rows = [&] {
        const auto other = disk().connect();
        std::string all;
        for (const auto* table : {"outbox_messages", "outbox_attempts", "inbox_messages"})
            all += other->text(fmt::format("SELECT count(*) FROM {}", table));
        return all;
    };
    put(sample());
    const auto before = rows();
    for (int i = 0; i < 3; ++i) reopen();
    EXPECT_EQ(rows(), before);
}

TEST_P(store, seq_goes_on_after_reopening) {
    const auto first = put(sample());
    must("DELETE FROM outbox_messages");
    reopen();
    EXPECT_GT(put(sample()), first);  // A used number is never given again.
}

TEST_P(store, a_schema_from_a_later_version_is_refused) {
    const auto body = sample();
    put(body);
    close();
    disk().pretend_newer();
    const auto refusal = open_error();
    EXPECT_EQ(refusal.code(), error_code::store_too_new) << refusal.what();
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1);
}

TEST_P(store, a_sound_store_passes_its_integrity_check) {
    put(sample());
    EXPECT_TRUE(succeeded(db().check_integrity()));
}

}  // namespace
}  // namespace posthorn::conformance
