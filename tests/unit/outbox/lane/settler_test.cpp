#include "outbox/lane/settler.hpp"

#include <gmock/gmock.h>

#include "base/async/virtual_loop.hpp"
#include "support/test_environment.hpp"
#include "unit/outbox/memory_store.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

/// A settler for epoch 1 over a few pending rows.
class settler_test : public ::testing::Test, public settle_listener {
protected:
    settler_test() {
        store.tables.epoch = 1;
        for (int i = 0; i < 5; ++i) store.send({});
        store.commits = 0;
        running.spawn(subject.run());
        loop.settle();
    }
    ~settler_test() override {
        running.cancel();
        loop.run(running.join());
    }

    void settled(std::span<const settlement> outcomes) override {
        for (const auto& one : outcomes) told.push_back(one.seq);
    }
    static settlement sent(std::int64_t seq) {
        settlement one;
        one.seq = seq;
        return one;
    }
    static settlement failed(std::int64_t seq) {
        auto one = sent(seq);
        one.to = outbox_status::pending;
        one.charged = true;
        return one;
    }
    outbox_status status(std::int64_t seq) { return store.tables.rows.at(seq).status; }
    void commit_something() {
        store.submit({.work = [](store_transaction&) -> result<> { return {}; },
                      .done = [](const result<>&) {}});
    }
    void fail_next(error_code code) { store.failures.emplace_back(code, "told to"); }

    virtual_loop loop;
    test::memory_store store{loop.time()};
    logger log = logger::null();
    bool lost = false;
    test::test_environment env{loop, log};
    settle_board board;
    settler subject{env,   store,
                    board, {.outcomes_waiting_max = 3, .bytes_at_writer_max = 1'000},
                    1,     [this] { lost = true; }};
    task_group running{loop.executor()};
    std::vector<std::int64_t> told;
};

TEST_F(settler_test, rides_with_the_next_commit) {
    subject.add(*this, {sent(1)});
    loop.run_for(4ms);
    EXPECT_EQ(store.commits, 0);
    EXPECT_EQ(status(1), outbox_status::pending);
    commit_something();
    loop.settle();
    EXPECT_EQ(store.commits, 1);
    EXPECT_EQ(status(1), outbox_status::sent);
    EXPECT_EQ(told, std::vector<std::int64_t>{1});
    loop.run_for(1s);
    EXPECT_EQ(store.commits, 1);  // Nothing is left to force.
}

TEST_F(settler_test, forces_one_commit_after_five_milliseconds) {
    subject.add(*this, {sent(1)});
    loop.run_for(3ms);
    subject.add(*this, {sent(2)});
    loop.run_for(1999us);
    EXPECT_EQ(store.commits, 0);
    loop.run_for(1us);
    EXPECT_EQ(store.commits, 1);
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2}));
    loop.run_for(1s);
    EXPECT_EQ(store.commits, 1);
}

/// Another lane.
struct hearer final : settle_listener {
    void settled(std::span<const settlement> outcomes) override {
        for (const auto& one : outcomes) told.push_back(one.seq);
    }
    std::vector<std::int64_t> told;
};

TEST_F(settler_test, gathers_what_lanes_bring_until_the_commit_in_one_unit) {
    hearer other;
    subject.add(other, {sent(4)});
    subject.add(*this, {sent(2)});
    loop.run_for(2ms);
    subject.add(*this, {failed(1)});
    EXPECT_EQ(store.commits, 1) << "three are many here";
    loop.settle();
    EXPECT_EQ(store.tables.settlings, 1);
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(other.told, std::vector<std::int64_t>{4});
    EXPECT_EQ(subject.outcomes_waiting(), 0U);
}

TEST_F(settler_test, adds_nothing_to_a_unit_that_has_run) {
    subject.add(*this, {sent(1)});
    commit_something();
    subject.add(*this, {sent(2)});
    EXPECT_EQ(status(2), outbox_status::pending);
    loop.run_for(1s);
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(store.tables.settlings, 2);
}

TEST_F(settler_test, tells_each_lane_of_its_own_when_the_database_refuses_one_of_them) {
    hearer other;
    store.tables.unwritable.insert(3);
    subject.add(other, {sent(3)});
    subject.add(*this, {sent(2)});
    loop.run_for(50ms);
    EXPECT_EQ(told, std::vector<std::int64_t>{2});
    EXPECT_TRUE(other.told.empty());
    store.tables.unwritable.clear();
    loop.run_for(1s);
    EXPECT_EQ(other.told, std::vector<std::int64_t>{3});
    EXPECT_EQ(subject.outcomes_waiting(), 0U);
}

TEST_F(settler_test, forces_a_commit_when_many_wait) {
    subject.add(*this, {sent(1), sent(2)});
    EXPECT_EQ(store.commits, 0);
    subject.add(*this, {sent(3)});
    EXPECT_EQ(store.commits, 1);
    EXPECT_EQ(status(3), outbox_status::sent);
}

TEST_F(settler_test, tells_only_what_is_on_disk) {
    store.hold(true);
    subject.add(*this, {sent(1)});
    loop.run_for(1s);
    EXPECT_TRUE(told.empty());
    store.hold(false);
    loop.settle();
    EXPECT_EQ(told, std::vector<std::int64_t>{1});
}

TEST_F(settler_test, tries_again_after_the_store_failed) {
    fail_next(error_code::store_busy);
    fail_next(error_code::store_full);
    subject.add(*this, {sent(1), failed(2)});
    loop.run_for(6ms);
    EXPECT_TRUE(told.empty());
    loop.run_for(100ms);
    EXPECT_TRUE(told.empty());
    loop.run_for(250ms);
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(status(1), outbox_status::sent);
    EXPECT_EQ(store.tables.rows.at(2).row.attempts, 1);
    EXPECT_EQ(subject.outcomes_waiting(), 0U);
}

TEST_F(settler_test, says_what_it_could_not_record_until_it_is_recorded) {
    fail_next(error_code::store_busy);
    fail_next(error_code::store_busy);
    subject.add(*this, {sent(1), failed(2)});
    loop.run_for(6ms);
    EXPECT_EQ(board.report(), (settle_report{1, 2, "told to"}));
    loop.run_for(110ms);
    EXPECT_EQ(board.report(), (settle_report{2, 2, "told to"}));
    loop.run_for(250ms);
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(board.report(), (settle_report{2, 0, ""}));
}

TEST_F(settler_test, says_no_more_of_what_another_node_will_record) {
    fail_next(error_code::statement_failed);
    subject.add(*this, {sent(1)});
    loop.run_for(6ms);
    EXPECT_EQ(board.report().unrecorded, 1U);
    subject.cut_off();
    EXPECT_EQ(board.report(), (settle_report{1, 0, ""}));
}

TEST_F(settler_test, after_a_commit_in_doubt_charges_nothing_twice) {
    fail_next(error_code::commit_in_doubt);  // It took hold, but nobody can say so.
    subject.add(*this, {sent(1), failed(2)});
    loop.run_for(6ms);
    EXPECT_EQ(told, std::vector<std::int64_t>{2});
    loop.run_for(1s);
    EXPECT_EQ(told, (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(store.tables.rows.at(2).row.attempts, 1);
    EXPECT_EQ(status(1), outbox_status::sent);
}

TEST_F(settler_test, says_when_the_lease_is_lost_and_writes_nothing_more) {
    store.tables.epoch = 2;
    subject.add(*this, {sent(1)});
    loop.run_for(10ms);
    EXPECT_TRUE(lost);
    EXPECT_TRUE(told.empty());
    store.tables.epoch = 1;
    subject.add(*this, {sent(2)});
    loop.run_for(1s);
    EXPECT_EQ(status(2), outbox_status::pending);
}

TEST_F(settler_test, flush_does_not_wait_for_the_timer) {
    subject.add(*this, {sent(1)});
    loop.run(subject.flush(5s));
    EXPECT_EQ(loop.time().steady(), steady_time{});
    EXPECT_EQ(status(1), outbox_status::sent);
}

TEST_F(settler_test, flush_gives_up_at_its_limit) {
    store.hold(true);
    subject.add(*this, {sent(1)});
    loop.run(subject.flush(5s));
    EXPECT_EQ(loop.time().steady(), steady_time{} + 5s);
}

TEST_F(settler_test, records_the_others_of_a_batch_when_the_database_refuses_one) {
    store.tables.unwritable.insert(3);
    subject.add(*this, {sent(1), sent(2), sent(3), sent(4), sent(5)});
    loop.run_for(50ms);
    for (const std::int64_t seq : {1, 2, 4, 5}) EXPECT_EQ(status(seq), outbox_status::sent) << seq;
    EXPECT_EQ(told.size(), 4U);
    EXPECT_EQ(board.report().unrecorded, 1U);
    EXPECT_NE(board.report().last_error.find("a trigger says no"), std::string::npos);
}

TEST_F(settler_test, tries_a_refused_outcome_again_ever_more_rarely) {
    store.tables.unwritable.insert(3);
    subject.add(*this, {sent(3)});
    loop.run_for(10min);
    const auto before = store.commits;
    loop.run_for(10min);
    EXPECT_LE(store.commits - before, 12) << "about once a minute";
    EXPECT_GE(store.commits - before, 8);
    store.tables.unwritable.clear();
    loop.run_for(2min);
    EXPECT_EQ(status(3), outbox_status::sent);
    EXPECT_EQ(board.report().unrecorded, 0U);
    EXPECT_EQ(subject.outcomes_waiting(), 0U);
}

TEST_F(settler_test, gives_the_writer_few_large_ones_at_a_time) {
    std::vector<settlement> large;
    for (std::int64_t seq = 1; seq <= 5; ++seq) {
        large.push_back(sent(seq));
        large.back().bytes = 400;  // Two of them fit.
    }
    store.hold(true);
    subject.add(*this, std::move(large));
    loop.run_for(1s);
    EXPECT_TRUE(told.empty());
    store.hold(false);
    loop.run_for(1s);
    EXPECT_EQ(told.size(), 5U);
    EXPECT_EQ(store.commits, 3);
}

TEST_F(settler_test, lets_small_ones_past_large_ones_that_wait) {
    const auto large = [](std::int64_t seq) {
        auto one = sent(seq);
        one.bytes = 700;
        return one;
    };
    store.hold(true);
    subject.add(*this, {large(1)});
    subject.add(*this, {large(2)});
    subject.add(*this, {large(3)});
    subject.add(*this, {sent(4)});
    store.hold(false);
    loop.settle();
    EXPECT_THAT(told, ::testing::ElementsAre(1, 4));
    loop.run_for(1s);
    EXPECT_EQ(told.size(), 4U);
}

TEST_F(settler_test, writes_one_that_is_larger_than_all_it_may_give_at_a_time) {
    auto large = sent(1);
    large.bytes = 5'000;
    subject.add(*this, {sent(2), large, sent(3)});
    loop.run_for(1s);
    EXPECT_EQ(told.size(), 3U);
    EXPECT_EQ(subject.outcomes_waiting(), 0U);
}

}  // namespace
}  // namespace posthorn
