#include <gmock/gmock.h>

#include <posthorn/error.hpp>

#include "inbox/body_hash.hpp"
#include "inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class external_inbox : public inbox_fixture {
protected:
    /// An asynchronous handler that takes its time.
    void handle_slowly(std::string endpoint, std::chrono::milliseconds delay) {
        handle(
            std::move(endpoint),
            {.run = async_handler([this, delay](message m) { return slowly(delay, m.payload); })});
    }

    task<result<std::string>> slowly(std::chrono::milliseconds delay, std::string response) {
        ++runs;
        POSTHORN_CO_TRY(co_await loop.time().sleep_for(delay));
        ++ended;
        co_return response;
    }

    /// As if another node, or this one before a crash, had taken the message.
    void claim_by_another(const message& one, std::chrono::milliseconds lease,
                          std::string owner = "another") {
        const auto now = loop.time().wall();
        const auto done = loop.run(commit(database(), [&](store_transaction& tx) -> result<> {
            const auto claimed = tx.inbox().claim({.key = {one.source, one.id},
                                                   .endpoint = one.endpoint,
                                                   .hash = hash_body(one),
                                                   .owner = owner,
                                                   .until = now + lease,
                                                   .expires_at = now + 48h},
                                                  now);
            POSTHORN_TRY(claimed);
            EXPECT_TRUE(*claimed);
            return {};
        }));
        ASSERT_TRUE(done);
    }

    int runs = 0;
    int ended = 0;
};

TEST_F(external_inbox, a_blocking_handler_runs_under_a_claim_and_its_response_is_kept) {
    std::optional<inbox_entry> during;
    handle("Call", {.run = blocking_handler([&](const message& m) {
                        ++runs;
                        during = entry_of(m);
                        return m.id.to_string();
                    })});
    const auto one = from_orders("Call", "1");
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .payload = one.id.to_string()}));
    ASSERT_TRUE(during);
    EXPECT_FALSE(during->processed);
    EXPECT_EQ(during->claimed_until, loop.time().wall() + 60s);
    EXPECT_TRUE(entry_of(one)->processed);
    EXPECT_EQ(
        receive(one),
        (delivery{.what = outcome::delivered, .duplicate = true, .payload = one.id.to_string()}));
    EXPECT_EQ(runs, 1);
}

TEST_F(external_inbox, the_same_id_with_another_body_is_a_conflict) {
    handle_slowly("Call", 1s);
    auto one = from_orders("Call", "1");
    receive(one);
    one.payload = "2";
    EXPECT_EQ(receive(one).code, error_code::id_reused);
    EXPECT_EQ(runs, 1);
}

TEST_F(external_inbox, a_failure_gives_the_claim_up) {
    handle("Call", {.run = blocking_handler([&](const message&) -> std::string {
                        if (++runs == 1) throw std::runtime_error("no answer from the bank");
                        return "paid";
                    })});
    const auto one = from_orders("Call", "1");
    EXPECT_EQ(receive(one),
              (delivery{.what = outcome::transient, .error = "no answer from the bank"}));
    EXPECT_EQ(inbox_rows(), 0);
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .payload = "paid"}));
}

TEST_F(external_inbox, an_error_value_or_permanent_reaches_the_sender) {
    handle("Error", {.run = async_handler([](message) -> task<result<std::string>> {
                         co_return fail(error_code::timed_out, "too slow");
                     })});
    handle("Bury", {.run = async_handler([](message) -> task<result<std::string>> {
                        throw permanent("never");
                        co_return std::string();
                    })});
    EXPECT_EQ(receive(from_orders("Error", "1")),
              (delivery{.what = outcome::transient, .error = "timed_out: too slow"}));
    EXPECT_EQ(receive(from_orders("Bury", "1")),
              (delivery{.what = outcome::permanent, .error = "never"}));
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(external_inbox, a_repeat_during_the_work_is_told_to_come_back) {
    handle_slowly("Call", 10s);
    const auto one = from_orders("Call", "1");
    auto first = start(loop.executor(), box().receive({&one}));
    loop.run_for(4s);
    const auto answer = receive(one);
    EXPECT_EQ(answer.what, outcome::throttled);
    EXPECT_EQ(answer.retry_after, 56s);
    EXPECT_EQ(box().counts(), inbox_counts{});
    loop.run_for(6s);
    EXPECT_EQ(first.get().at(0), (delivery{.what = outcome::delivered, .payload = "1"}));
    EXPECT_EQ(runs, 1);
}

TEST_F(external_inbox, a_claim_that_ran_out_is_taken_over) {
    handle_slowly("Call", 1s);
    const auto one = from_orders("Call", "1");
    claim_by_another(one, 60s);
    EXPECT_EQ(receive(one).what, outcome::throttled);
    loop.time().advance(59'999ms);
    EXPECT_EQ(receive(one).what, outcome::throttled);
    EXPECT_EQ(runs, 0);
    loop.time().advance(1ms);
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .payload = "1"}));
}

TEST_F(external_inbox, a_claim_from_a_clock_that_was_wrong_by_years_does_not_block) {
    handle_slowly("Call", 1s);
    const auto one = from_orders("Call", "1");
    claim_by_another(one, 87'600h);
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .payload = "1"}));
    EXPECT_TRUE(entry_of(one)->processed);
}

TEST_F(external_inbox, who_loses_its_claim_says_so_and_leaves_the_successors_alone) {
    const auto one = from_orders("Call", "1");
    bool fails = false;
    handle("Call", {.run = blocking_handler([&](const message&) -> std::string {
                        loop.time().advance(60s);
                        claim_by_another(one, 60s, fails ? "third" : "second");
                        if (fails) throw std::runtime_error("late and broken");
                        return "late";
                    })});
    const auto lost = receive(one);
    EXPECT_EQ(lost.what, outcome::transient);
    EXPECT_EQ(lost.code, error_code::lease_lost);
    EXPECT_EQ(lost.payload, "");
    EXPECT_EQ(entry_of(one)->claim_owner, "second");
    fails = true;
    loop.time().advance(60s);
    EXPECT_EQ(receive(one).error, "late and broken");
    EXPECT_EQ(entry_of(one)->claim_owner, "third");
}

TEST_F(external_inbox, an_asynchronous_handler_is_cancelled_when_its_lease_ends) {
    handle_slowly("Call", 1h);
    const auto one = from_orders("Call", "1");
    const auto before = loop.time().steady();
    EXPECT_EQ(receive(one).what, outcome::transient);
    EXPECT_EQ(loop.time().steady() - before, 60s);
    EXPECT_EQ(ended, 0);
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(external_inbox, those_of_a_batch_run_beside_each_other) {
    handle_slowly("Call", 10s);
    handle_by_writing("Charge", "done");
    const std::vector<message> batch{from_orders("Call", "1"), from_orders("Charge", "2"),
                                     from_orders("Call", "3")};
    const auto before = loop.time().steady();
    const auto answers = receive(batch);
    EXPECT_EQ(loop.time().steady() - before, 10s);
    EXPECT_EQ(answers.at(0).payload, "1");
    EXPECT_EQ(answers.at(1).payload, "done");
    EXPECT_EQ(answers.at(2).payload, "3");
    EXPECT_EQ(inbox_rows(), 3);
}

TEST_F(external_inbox, a_message_twice_in_a_batch_runs_once) {
    handle_slowly("Call", 1s);
    const auto one = from_orders("Call", "1");
    const auto answers = receive(std::vector{one, one});
    EXPECT_EQ(answers.at(0).what, outcome::delivered);
    EXPECT_EQ(answers.at(1).what, outcome::throttled);
    EXPECT_EQ(runs, 1);
}

TEST_F(external_inbox, gives_up_what_is_at_work_and_what_comes_later) {
    handle_slowly("Call", 30s);
    const auto one = from_orders("Call", "1");
    const auto give_up = [this]() -> task<> {
        co_await loop.time().sleep_for(1s);
        box().cut_off();
    };
    task_group group(loop.executor());
    group.spawn(give_up());
    const auto answer = receive(one);
    loop.run(group.join());
    EXPECT_EQ(answer.what, outcome::transient);
    EXPECT_THAT(answer.error, HasSubstr("the node stops"));
    EXPECT_EQ(loop.time().steady(), steady_time{1s});
    EXPECT_EQ(inbox_rows(), 0);  // The claim is released.
    EXPECT_EQ(receive(one).what, outcome::transient);
    EXPECT_EQ(loop.time().steady(), steady_time{1s});
    EXPECT_EQ(ended, 0);
}

TEST_F(external_inbox, a_response_past_the_limit_is_refused) {
    options.intake.response_size_max = 3;
    handle("Call", {.run = blocking_handler([](const message&) { return std::string("1234"); })});
    const auto answer = receive(from_orders("Call", "1"));
    EXPECT_EQ(answer.what, outcome::permanent);
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(external_inbox, a_transactional_handler_takes_over_what_an_external_one_left) {
    handle_by_writing("Charge", "done");
    const auto one = from_orders("Charge", "1");
    claim_by_another(one, 60s);
    EXPECT_EQ(receive(one).what, outcome::throttled);
    loop.time().advance(60s);
    EXPECT_EQ(receive(one), (delivery{.what = outcome::delivered, .payload = "done"}));
    EXPECT_EQ(receive(one),
              (delivery{.what = outcome::delivered, .duplicate = true, .payload = "done"}));
    EXPECT_EQ(effects(), 1);
}

class inbox_purging : public inbox_fixture {
protected:
    inbox_purging() { handle_by_writing("Charge"); }

    void receive_many(int count) {
        std::vector<message> batch;
        for (int i = 0; i < count; ++i) batch.push_back(from_orders("Charge", std::to_string(i)));
        receive(batch);
    }
};

TEST_F(inbox_purging, deletes_rows_when_their_time_is_over_and_not_before) {
    options.purge.slices.rows_first = 10;
    receive_many(25);
    run_in_background();
    loop.run_for(48h - 5min);
    EXPECT_EQ(inbox_rows(), 25);
    loop.run_for(11min);  // The look after it, with the rests between its slices.
    EXPECT_EQ(inbox_rows(), 0);
    EXPECT_EQ(effects(), 25);
}

TEST_F(inbox_purging, waits_for_an_hour_after_a_jump_of_the_clock) {
    receive_many(3);
    run_in_background();
    loop.run_for(2h);
    loop.time().jump_wall(87'600h);
    loop.run_for(30min);
    EXPECT_EQ(inbox_rows(), 3);
    loop.time().jump_wall(-87'600h);
    loop.run_for(40h);
    EXPECT_EQ(inbox_rows(), 3);
    loop.run_for(6h);
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(inbox_purging, trusts_no_clock_in_its_first_hour) {
    receive_many(3);
    loop.time().advance(100h);
    run_in_background();
    loop.run_for(55min);
    EXPECT_EQ(inbox_rows(), 3);
    loop.run_for(10min);
    EXPECT_EQ(inbox_rows(), 0);
}

TEST_F(inbox_purging, ends_when_it_is_cancelled) {
    task_group group(loop.executor());
    group.spawn(box().run());
    loop.run_for(1h);
    group.cancel();
    loop.run(group.join());
    EXPECT_EQ(loop.time().steady(), steady_time{1h});
}

}  // namespace
}  // namespace posthorn
