// What an answer rests on: the commit that the messages of a batch share.
#include <gmock/gmock.h>

#include "inbox_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

/// Passes everything on, but may lie about what became of units, and counts barriers.
class doubtful_store final : public store {
public:
    explicit doubtful_store(store& real) : real_(real) {}

    void submit(unit work) override {
        std::vector<unit> one;
        one.push_back(std::move(work));
        submit(std::move(one));
    }
    void submit(std::vector<unit> work) override {
        for (auto& one : work)
            if (failure)
                one.done = [this, done = std::move(one.done)](result<>) mutable {
                    done(std::unexpected(*failure));
                };
        real_.submit(std::move(work));
    }
    void submit_and_wait(unit work) override { submit(std::move(work)); }
    result<> read(const std::function<result<>(store_reader&)>& look) override {
        return real_.read(look);
    }
    void hand_to(commit_taker* taker) override { real_.hand_to(taker); }
    void listen(commit_listener& listener) override { real_.listen(listener); }
    void forget(commit_listener& listener) override { real_.forget(listener); }
    result<bool> changed_by_others() override { return real_.changed_by_others(); }
    void barrier(unit::done_type done) override {
        ++barriers;
        if (failure) return done(std::unexpected(*failure));
        real_.barrier(std::move(done));
    }
    shared_dispatch* sharing() override { return real_.sharing(); }
    file_upkeep* upkeep() override { return real_.upkeep(); }
    [[nodiscard]] bool has_failed() const override { return real_.has_failed(); }
    std::optional<error> write_trouble() const override { return real_.write_trouble(); }
    std::uint64_t units_done() const override { return real_.units_done(); }
    std::chrono::nanoseconds longest_wait() const override { return real_.longest_wait(); }
    std::chrono::nanoseconds unit_age() const override { return real_.unit_age(); }
    result<> check_integrity() override { return real_.check_integrity(); }
    void stop() override {}

    std::optional<error> failure;
    int barriers = 0;

private:
    store& real_;
};

class commit_counter final : public commit_taker {
public:
    void committed(std::vector<outbox_row> enqueued) override { sizes.push_back(enqueued.size()); }
    std::vector<std::size_t> sizes;
};

class inbox_commit : public inbox_fixture {};

TEST_F(inbox_commit, a_batch_is_one_commit) {
    handle("Charge", {.run = transactional_handler([](context& c, const message&) {
                          c.send("ledger", "Book", "{}");
                          return std::string();
                      })});
    commit_counter seen;
    database().hand_to(&seen);
    std::vector<message> batch;
    for (int i = 0; i < 50; ++i) batch.push_back(from_orders("Charge", std::to_string(i)));
    for (const auto& answer : receive(batch)) EXPECT_EQ(answer.what, outcome::delivered);
    database().hand_to(nullptr);
    EXPECT_EQ(seen.sizes, std::vector<std::size_t>{50});
}

TEST_F(inbox_commit, no_answer_stands_on_a_commit_that_is_in_doubt) {
    handle_by_writing("Charge");
    doubtful_store doubtful(database());
    const auto earlier = from_orders("Charge", "0");
    static_cast<void>(loop.run(box(&doubtful).receive({&earlier})));
    doubtful.failure = error(error_code::commit_in_doubt, "who knows");

    const auto one = from_orders("Charge", "1");
    auto other = one;
    other.payload = "2";
    const auto answers = receive(std::vector{one, one, other, earlier});
    for (const auto& answer : answers) {
        EXPECT_EQ(answer.what, outcome::throttled);
        EXPECT_FALSE(answer.duplicate);
        EXPECT_EQ(answer.payload, "");
        EXPECT_THAT(answer.error, HasSubstr("commit_in_doubt"));
    }
}

TEST_F(inbox_commit, a_full_disk_throttles_and_charges_nothing) {
    handle("Charge", {.run = transactional_handler([](context&, const message&) -> std::string {
                          throw std::runtime_error("seen while the group could not be stored");
                      })});
    doubtful_store doubtful(database());
    const auto earlier = from_orders("Charge", "0");
    static_cast<void>(loop.run(box(&doubtful).receive({&earlier})));
    doubtful.failure = error(error_code::store_full, "the disk is full");
    const auto answer = receive(from_orders("Charge", "1"));
    EXPECT_EQ(answer.what, outcome::throttled);
    EXPECT_GT(answer.retry_after, 0ms);
}

TEST_F(inbox_commit, what_is_wrong_with_the_database_is_for_our_log_and_not_for_the_sender) {
    handle_by_writing("Charge");
    doubtful_store doubtful(database());
    const auto earlier = from_orders("Charge", "0");
    static_cast<void>(loop.run(box(&doubtful).receive({&earlier})));
    doubtful.failure = error(error_code::store_read_only, "GRANT INSERT ON inbox TO billing");
    lines.clear();
    const auto answer = receive(from_orders("Charge", "1"));
    EXPECT_THAT(answer.error, HasSubstr("its log says why"));
    EXPECT_THAT(answer.error, Not(HasSubstr("GRANT")));
    EXPECT_THAT(lines, testing::Contains(HasSubstr("GRANT INSERT ON inbox TO billing")));
}

TEST_F(inbox_commit, one_sync_of_what_a_crash_left_comes_before_the_first_answer) {
    handle_by_writing("Charge");
    doubtful_store doubtful(database());
    doubtful.failure = error(error_code::store_failed, "the disk is gone");
    const auto one = from_orders("Charge", "1");
    EXPECT_EQ(loop.run(box(&doubtful).receive({&one})).at(0).what, outcome::transient);
    EXPECT_EQ(effects(), 0);
    doubtful.failure.reset();
    EXPECT_EQ(receive(one).what, outcome::delivered);
    EXPECT_EQ(receive(one).duplicate, true);
    EXPECT_EQ(doubtful.barriers, 2);
}

TEST_F(inbox_commit, a_stopped_store_takes_nothing_in) {
    handle_by_writing("Charge");
    ASSERT_EQ(receive(from_orders("Charge", "1")).what, outcome::delivered);
    database().stop();
    const auto answer = receive(from_orders("Charge", "2"));
    EXPECT_EQ(answer.what, outcome::transient);
    EXPECT_THAT(answer.error, HasSubstr("closed"));
}

TEST_F(inbox_commit, a_group_that_is_lost_is_run_again_and_answers_what_then_happened) {
    int runs = 0;
    handle("First", {.run = transactional_handler([&](context& c, const message& m) {
                         c.execute("INSERT INTO effects VALUES (?)", m.payload);
                         if (++runs == 1) throw std::runtime_error("only the first time");
                         return std::to_string(runs);
                     })});
    handle("Break", {.run = transactional_handler([](context& c, const message&) {
                         c.execute("INSERT INTO effects VALUES ('x')");
                         c.execute("INSERT OR ROLLBACK INTO effects VALUES ('x')");
                         return std::string();
                     })});
    const auto answers = receive(std::vector{from_orders("First", "1"), from_orders("Break", "2")});
    EXPECT_GT(runs, 1);
    EXPECT_EQ(answers.at(0),
              (delivery{.what = outcome::delivered, .payload = std::to_string(runs)}));
    EXPECT_EQ(answers.at(1).what, outcome::transient);
    EXPECT_EQ(effects(), 1);
    EXPECT_EQ(inbox_rows(), 1);
}

TEST_F(inbox_commit, a_handler_cannot_end_the_transaction) {
    handle("Charge", {.run = transactional_handler([](context& c, const message& m) {
                          c.execute("INSERT INTO effects VALUES (?)", m.payload);
                          c.execute("COMMIT");
                          return std::string();
                      })});
    EXPECT_EQ(receive(from_orders("Charge", "1")).what, outcome::transient);
    EXPECT_EQ(effects() + inbox_rows(), 0);
}

// A trigger of the application's is in the way of all messages alike.
TEST_F(inbox_commit, a_message_is_not_charged_for_a_table_that_refuses_it) {
    handle_by_writing("Charge", "done");
    handle("Call", {.run = blocking_handler([](const message&) { return std::string("done"); })});
    const std::vector<message> batch{from_orders("Charge", "1"), from_orders("Call", "2")};
    for (const std::string when : {"INSERT", "UPDATE"}) {
        SCOPED_TRACE(when);
        change("CREATE TRIGGER refuses BEFORE " + when +
               " ON inbox_messages BEGIN SELECT RAISE(ABORT, 'no thanks'); END");
        for (const auto& answer : receive(batch)) {
            EXPECT_EQ(answer.what, outcome::throttled);
            EXPECT_EQ(answer.code, error_code::store_busy);
            EXPECT_GT(answer.retry_after, 0ms);
            EXPECT_THAT(answer.error, Not(HasSubstr("no thanks"))) << "that is for our own people";
        }
        EXPECT_EQ(effects(), 0);
        const auto failures = box().failures().list(loop.time().wall());
        ASSERT_EQ(failures.size(), 2U);
        EXPECT_THAT(failures[0].why, HasSubstr("no thanks"));
        change("DROP TRIGGER refuses");
    }
    loop.time().advance(1h);  // The claim that could not be given up has run out.
    for (const auto& answer : receive(batch)) EXPECT_EQ(answer.what, outcome::delivered);
    EXPECT_TRUE(box().failures().list(loop.time().wall()).empty());
}

class inbox_horizon : public inbox_fixture {};

TEST_F(inbox_horizon, a_message_past_its_expiry_is_refused) {
    handle_by_writing("Charge");
    handle("Call", {.run = blocking_handler([](const message&) { return std::string(); })});
    const std::vector<message> batch{from_orders("Charge", "1"), from_orders("Call", "2")};
    loop.time().advance(24h);
    for (const auto& answer : receive(batch)) {
        EXPECT_EQ(answer.what, outcome::permanent);
        EXPECT_EQ(answer.code, error_code::message_expired);
        EXPECT_THAT(answer.error, HasSubstr("message_expired"));
    }
    EXPECT_EQ(effects() + inbox_rows(), 0);
    EXPECT_EQ(box().counts().refused, 2U);
}

TEST_F(inbox_horizon, a_repeat_past_its_expiry_is_known_while_its_row_lives) {
    handle_by_writing("Charge", "done");
    const auto one = from_orders("Charge", "1");
    receive(one);
    loop.time().advance(24h);
    EXPECT_EQ(receive(one),
              (delivery{.what = outcome::delivered, .duplicate = true, .payload = "done"}));
}

TEST_F(inbox_horizon, a_message_that_seems_expired_after_a_jump_of_the_clock_is_not_buried) {
    handle_by_writing("Charge");
    const auto one = from_orders("Charge", "1");
    run_in_background();  // Looks at the clocks.
    loop.run_for(1min);
    loop.time().jump_wall(87'600h);
    EXPECT_EQ(receive(one).what, outcome::throttled);
    loop.time().jump_wall(-87'600h);
    EXPECT_EQ(receive(one).what, outcome::delivered);
}

TEST_F(inbox_horizon, no_row_is_kept_for_years_whatever_times_its_message_says) {
    handle_by_writing("Charge");
    constexpr wall_time year_9999{70'389'500h};
    auto without_its_time = from_orders("Charge", "1");
    without_its_time.created_at = {};
    without_its_time.expires_at = year_9999;
    auto of_the_future = from_orders("Charge", "2");
    of_the_future.created_at = year_9999;
    of_the_future.expires_at = year_9999 + 24h;
    for (const auto& one : {without_its_time, of_the_future})
        EXPECT_EQ(receive(one).what, outcome::delivered);
    const auto longest = loop.time().wall() + message_life_max + 48h;
    EXPECT_EQ(number("SELECT max(expires_at) FROM inbox_messages"),
              longest.time_since_epoch().count());
}

TEST_F(inbox_horizon, a_message_made_long_ago_is_told_so_instead_of_an_expiry_to_come) {
    handle_by_writing("Charge");
    auto in_seconds = from_orders("Charge", "1");
    in_seconds.created_at = wall_time{std::chrono::milliseconds{1'794'995'833}};
    const auto answer = receive(in_seconds);
    EXPECT_EQ(answer.code, error_code::message_expired);
    EXPECT_THAT(answer.error, HasSubstr("made at 1970-01-21T"));
    EXPECT_THAT(answer.error, Not(HasSubstr("it expired at")));
}

TEST_F(inbox_horizon, a_message_without_an_expiry_is_taken_in) {
    handle_by_writing("Charge");
    auto one = from_orders("Charge", "1");
    one.expires_at = no_expiry;
    EXPECT_EQ(receive(one).what, outcome::delivered);
    const auto life = loop.time().wall() + 48h;
    EXPECT_EQ(number("SELECT expires_at FROM inbox_messages"), life.time_since_epoch().count());
}

}  // namespace
}  // namespace posthorn
