// What holds when the disk loses power, fails to sync, is full or lies.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(store_on_a_failing_disk, nothing_is_answered_before_it_would_survive_a_power_cut) {
    make_tables();
    std::vector<std::int64_t> durable;
    answers arrived;
    for (std::size_t i = 0; i < 10; ++i) {
        db().submit({.work = execute("INSERT INTO t VALUES (1)"),
                     .done = [&, done = arrived.to(i)](result<> value) mutable {
                         durable.push_back(faults().durable_number("SELECT count(*) FROM t"));
                         done(std::move(value));
                     }});
    }
    arrived.wait_for(10);
    for (std::size_t i = 0; i < durable.size(); ++i)
        EXPECT_GE(durable[i], static_cast<std::int64_t>(i + 1));
}

TEST_P(store_on_a_failing_disk, no_message_is_announced_before_it_would_survive_a_power_cut) {
    class prompt final : public commit_taker {
    public:
        explicit prompt(disk_faults& faults) : faults_(faults) {}
        void committed(std::vector<outbox_row> enqueued) override {
            announced += enqueued.size();
            durable = faults_.durable_number("SELECT count(*) FROM outbox_messages");
        }
        std::size_t announced = 0;
        std::int64_t durable = -1;

    private:
        disk_faults& faults_;
    };
    db();
    prompt heard(faults());
    db().hand_to(&heard);
    for (int i = 0; i < 3; ++i) put(sample());
    db().hand_to(nullptr);
    EXPECT_EQ(heard.announced, 3U);
    EXPECT_EQ(heard.durable, 3);
}

TEST_P(store_on_a_failing_disk, what_was_answered_survives_a_power_cut) {
    const auto body = sample();
    put(body);
    recover();
    EXPECT_EQ(status(body.id), outbox_status::pending);
    EXPECT_TRUE(succeeded(db().check_integrity()));
}

TEST_P(store_on_a_failing_disk, the_commit_of_another_survives_once_a_barrier_is_past) {
    db();
    const auto insert =
        "INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('b', 'c', '{}')";
    auto other = disk().connect(durability::none);
    ASSERT_EQ(other->run(insert), std::nullopt);
    ASSERT_EQ(faults().durable_number("SELECT count(*) FROM outbox_messages"), 0);
    answers arrived;
    db().barrier(arrived.to(0));
    arrived.wait_for(1);
    EXPECT_TRUE(succeeded(arrived.at(0)));
    EXPECT_EQ(faults().durable_number("SELECT count(*) FROM outbox_messages"), 1);
    faults().cut_power();
    other.reset();
    recover();
    db();
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1);
}

TEST_P(store_on_a_failing_disk, every_barrier_causes_a_sync) {
    db();
    auto other = disk().connect(durability::none);
    for (int i = 1; i <= 3; ++i) {
        ASSERT_EQ(other->run("INSERT INTO outbox_messages(destination, endpoint, payload) "
                             "VALUES ('b', 'c', '{}')"),
                  std::nullopt);
        answers arrived;
        db().barrier(arrived.to(0));
        arrived.wait_for(1);
        EXPECT_EQ(faults().durable_number("SELECT count(*) FROM outbox_messages"), i);
    }
}

TEST_P(store_on_a_failing_disk, a_failed_sync_is_in_doubt_and_stops_the_store) {
    make_tables();
    must("INSERT INTO t VALUES (1)");
    faults().fail_next_sync();
    const auto doubtful = run(execute("INSERT INTO t VALUES (2)"));
    EXPECT_TRUE(refused_with(doubtful, error_code::commit_in_doubt));
    EXPECT_TRUE(doubtful.error().is_in_doubt());
    EXPECT_TRUE(refused_with(run(execute("INSERT INTO t VALUES (3)")), error_code::store_failed));
    answers arrived;
    db().barrier(arrived.to(0));
    arrived.wait_for(1);
    EXPECT_TRUE(refused_with(arrived.at(0), error_code::store_failed));
    recover();
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE n = 1"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM t WHERE n = 3"), 0);
    must("INSERT INTO t VALUES (4)");
}

TEST_P(store_on_a_failing_disk, a_failed_sync_answers_no_unit_of_the_group_with_success) {
    make_tables();
    listener heard;
    db().hand_to(&heard);
    faults().fail_next_sync();
    std::vector<work> group;
    for (int i = 0; i < 5; ++i) group.push_back(enqueue(sample()));
    for (const auto& outcome : run_all(std::move(group)))
        EXPECT_TRUE(refused_with(outcome, error_code::commit_in_doubt));
    EXPECT_EQ(heard.rows().size(), 0U);
    db().hand_to(nullptr);
}

TEST_P(store_on_a_failing_disk,
       a_failed_sync_while_a_broken_group_is_rerun_answers_none_with_success) {
    make_tables();
    listener heard;
    db().hand_to(&heard);
    faults().fail_next_sync();
    std::vector<work> group;
    group.push_back(enqueue(sample()));
    group.push_back(execute(disk().speaks().group_breakers.front()));
    group.push_back(enqueue(sample()));
    group.push_back(enqueue(sample()));
    const auto outcomes = run_all(std::move(group));
    for (const auto& outcome : outcomes) EXPECT_FALSE(outcome);
    EXPECT_EQ(heard.rows().size(), 0U);
    db().hand_to(nullptr);
    recover();
    EXPECT_LE(number("SELECT count(*) FROM outbox_messages"), 1);  // The one in doubt.
}

// The process is started anew and its machine is not: what was not synced is still there to be
// read, and no sync to come would save it.
TEST_P(store_on_a_failing_disk, what_is_found_after_a_failed_sync_survives_a_power_cut) {
    for (int i = 0; i < 5; ++i) put(sample());
    faults().fail_next_sync();
    const auto doubtful = run([this](store_transaction& tx) -> result<> {
        for (int i = 0; i < 300; ++i) POSTHORN_TRY(tx.outbox().insert(sample()));
        return {};
    });
    EXPECT_TRUE(refused_with(doubtful, error_code::commit_in_doubt));
    reopen();
    db();
    const auto found = number("SELECT count(*) FROM outbox_messages");
    EXPECT_EQ(found, 305);
    recover();
    EXPECT_TRUE(succeeded(db().check_integrity()));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), found);
}

TEST_P(store_on_a_failing_disk,
       a_power_cut_at_any_step_of_the_start_after_a_failed_sync_harms_nothing) {
    std::int64_t answered = 0;
    for (std::uint64_t step = 0, opened_whole = 0; opened_whole == 0; ++step) {
        SCOPED_TRACE(step);
        for (int i = 0; i < 5; ++i) put(sample());
        answered += 5;
        faults().fail_next_sync();
        const auto doubtful = run([this](store_transaction& tx) -> result<> {
            for (int i = 0; i < 30; ++i) POSTHORN_TRY(tx.outbox().insert(sample()));
            return {};
        });
        EXPECT_TRUE(refused_with(doubtful, error_code::commit_in_doubt));
        close();
        faults().cut_power_after(step);
        opened_whole = disk().open({}).has_value() ? 1 : 0;
        recover(disk_faults::unsynced::chosen_by_seed);
        ASSERT_TRUE(succeeded(db().check_integrity()));
        ASSERT_GE(number("SELECT count(*) FROM outbox_messages"), answered);
    }
}

TEST_P(store_on_a_failing_disk, units_queued_behind_a_failed_sync_are_refused) {
    make_tables();
    answers arrived;
    db().submit({.work = execute("INSERT INTO t VALUES (1)"), .done = arrived.to(0), .lazy = true});
    faults().fail_next_sync();
    db().submit({.work = execute("INSERT INTO t VALUES (2)"), .done = arrived.to(1)});
    arrived.wait_for(2);
    EXPECT_FALSE(arrived.at(0));
    EXPECT_FALSE(arrived.at(1));
    db().submit({.work = execute("INSERT INTO t VALUES (3)"), .done = arrived.to(2), .lazy = true});
    arrived.wait_for(3);
    EXPECT_TRUE(refused_with(arrived.at(2), error_code::store_failed));
}

TEST_P(store_on_a_failing_disk, a_full_disk_refuses_and_loses_nothing_and_works_again_with_room) {
    db();
    faults().leave_room_for(300'000);
    std::vector<uuid> stored;
    std::vector<uuid> refused;
    for (int i = 0; i < 20; ++i) {
        auto body = sample();
        body.payload = '"' + std::string(40'000, 'p') + '"';
        const auto outcome = run(enqueue(body));
        if (!outcome) EXPECT_TRUE(refused_with(outcome, error_code::store_full));
        (outcome ? stored : refused).push_back(body.id);
    }
    EXPECT_FALSE(stored.empty());
    EXPECT_FALSE(refused.empty());
    EXPECT_EQ(due("billing", noon).rows.size(), stored.size());  // Reading goes on.

    faults().make_room();
    const auto late = sample();
    put(late);
    EXPECT_TRUE(succeeded(db().check_integrity()));
    recover();
    for (const auto& id : stored) EXPECT_EQ(status(id), outbox_status::pending);
    for (const auto& id : refused) EXPECT_EQ(status(id), std::nullopt);
    EXPECT_EQ(status(late.id), outbox_status::pending);
    EXPECT_TRUE(succeeded(db().check_integrity()));
}

TEST_P(store_on_a_failing_disk, a_group_that_finds_no_room_is_refused_unit_by_unit_or_whole) {
    make_tables();
    faults().leave_room_for(60'000);
    std::vector<work> group;
    std::vector<uuid> ids;
    for (int i = 0; i < 4; ++i) {
        auto body = sample();
        body.payload = '"' + std::string(i == 2 ? 200'000 : 10, 'p') + '"';
        ids.push_back(body.id);
        group.push_back(enqueue(body));
    }
    const auto outcomes = run_all(std::move(group));
    EXPECT_TRUE(refused_with(outcomes[2], error_code::store_full));
    for (std::size_t i = 0; i < 4; ++i) {
        if (!outcomes[i]) EXPECT_TRUE(refused_with(outcomes[i], error_code::store_full));
        EXPECT_EQ(status(ids[i]).has_value(), outcomes[i].has_value());
    }
    faults().make_room();
    put(sample());
}

TEST_P(store_on_a_failing_disk, damage_is_found_on_opening) {
    must([&](store_transaction& tx) -> result<> {
        for (int i = 0; i < 200; ++i) POSTHORN_TRY(tx.outbox().insert(sample()));
        return {};
    });
    close();
    faults().corrupt();
    const auto refusal = open_error();
    EXPECT_EQ(refusal.code(), error_code::store_corrupt) << refusal.what();
}

TEST_P(store_on_a_failing_disk, the_death_of_the_power_is_not_answered_with_success) {
    make_tables();
    faults().cut_power();
    const auto outcome = run(execute("INSERT INTO t VALUES (1)"));
    EXPECT_FALSE(outcome);
    recover();
    EXPECT_EQ(number("SELECT count(*) FROM t"), 0);
}

}  // namespace
}  // namespace posthorn::conformance
