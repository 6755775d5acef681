#include "store/rules/outbox_changes.hpp"

#include <gmock/gmock.h>

#include "store/rows/stored_time.hpp"
#include "unit/store/fake_driver.hpp"

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Notes what the tables beside the outbox are asked.
struct fake_neighbour {
    std::vector<std::string>& asked;

    result<> record(std::int64_t seq, outbox_status to, wall_time) {
        asked.push_back(fmt::format("closed({}, {})", seq, to_string(to)));
        return {};
    }
    result<> let_go_after(std::int64_t seq) {
        asked.push_back(fmt::format("let_go_after({})", seq));
        return {};
    }
    result<> place(std::int64_t seq) {
        asked.push_back(fmt::format("place({})", seq));
        return {};
    }
    static result<> set_policy(order_policy) { return {}; }
    static result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs) {
        return std::ssize(seqs);
    }
};

struct neighbours {
    test::fake_log& changes;
    fake_neighbour& closed;
    fake_neighbour& keys;
};

class a_store final : public outbox_changes<test::fake_driver, neighbours> {
public:
    a_store(test::fake_connection& database, const clock& time, const neighbours& others)
        : outbox_changes(database, time, others,
                         {.retry = {"retry"},
                          .close = {"close"},
                          .pending = {"pending"},
                          .attempt = {"attempt"},
                          .unanswered = {"unanswered"},
                          .end = {"end"},
                          .requeue = {"requeue"},
                          .known = {"known"},
                          .told = {"told"},
                          .pause = {"pause"},
                          .resume = {"resume"}}) {}

    result<inserted_row> insert_row(const message&) override { return inserted_row{.seq = 1}; }
    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t) override {
        settled_rows settled;
        for (const auto& one : outcomes) settled.add(one.to, one.seq);
        return log_settled(std::move(settled));
    }
    using outbox_changes::follow_up;
    using outbox_changes::retry_or_close;
};

class an_outbox : public ::testing::Test {
protected:
    static settlement outcome(outbox_status to) {
        settlement one{.seq = 5, .to = to};
        one.at = from_ms(100);
        one.next_attempt_at = from_ms(200);
        return one;
    }
    std::vector<std::string> follows(const settlement& one) {
        EXPECT_TRUE(outbox.follow_up(one));
        return database.take();
    }

    test::fake_connection database;
    test::fake_clock time;
    test::fake_log log;
    fake_neighbour beside{database.asked};
    a_store outbox{database, time, {log, beside, beside}};
};

TEST_F(an_outbox, does_nothing_more_for_one_that_is_sent) {
    EXPECT_THAT(follows(outcome(outbox_status::sent)), IsEmpty());
}

TEST_F(an_outbox, lets_followers_go_after_one_that_is_sent_and_has_some) {
    auto sent = outcome(outbox_status::sent);
    sent.followers_wait = true;
    EXPECT_THAT(follows(sent), ElementsAre("let_go_after(5)"));
}

TEST_F(an_outbox, records_an_attempt_that_was_charged) {
    auto retry = outcome(outbox_status::pending);
    retry.charged = true;
    retry.error = "no";
    retry.followers_wait = true;  // They wait on.
    EXPECT_THAT(follows(retry), ElementsAre("attempt(5, 100, no)"));
    retry.charged = false;
    EXPECT_THAT(follows(retry), IsEmpty());
}

TEST_F(an_outbox, accounts_for_what_is_given_up_lets_others_go_and_has_its_end_told) {
    for (const auto to : {outbox_status::dead, outbox_status::expired})
        EXPECT_THAT(follows(outcome(to)), ElementsAre(fmt::format("closed(5, {})", to_string(to)),
                                                      "let_go_after(5)", "end(5)"));
    EXPECT_THAT(follows(outcome(outbox_status::resolved)),
                ElementsAre("closed(5, Resolved)", "let_go_after(5)"))
        << "nobody is told of that";
}

TEST_F(an_outbox, writes_a_retry_or_an_end_and_tells_whether_the_row_was_pending) {
    auto one = outcome(outbox_status::pending);
    one.charged = true;
    one.error = "no";
    database.change("retry", 1);
    EXPECT_EQ(outbox.retry_or_close(one), true);
    EXPECT_THAT(database.take(), ElementsAre("retry(5, 1, 200, 100, no)"));
    one = outcome(outbox_status::resolved);
    one.resolution = "by hand";
    one.keeps_last_error = true;
    EXPECT_EQ(outbox.retry_or_close(one), false);
    EXPECT_THAT(database.take(),
                ElementsAre("close(5, Resolved, 0, 100, NULL, by hand, 1)", "pending(5)"));
    database.answer("pending", {std::int64_t{1}});
    EXPECT_EQ(outbox.retry_or_close(one).error().code(), error_code::statement_failed)
        << "it is as it was, and a trigger has seen to that";
}

TEST_F(an_outbox, logs_what_was_settled_by_what_became_of_it) {
    const std::vector<settlement> outcomes{{.seq = 1},
                                           {.seq = 2, .to = outbox_status::dead},
                                           {.seq = 3},
                                           {.seq = 4, .to = outbox_status::pending}};
    EXPECT_EQ(outbox.settle(outcomes, 1), 4);
    EXPECT_THAT(log.lines, ElementsAre("outbox.retry [4]", "outbox.sent [1 3]", "outbox.dead [2]"));
}

TEST_F(an_outbox, requeues_one_that_is_dead_into_its_place) {
    EXPECT_EQ(outbox.requeue(uuid{}), false);
    database.take();
    database.answer("requeue", {std::int64_t{5}});
    EXPECT_EQ(outbox.requeue(uuid{}), true);
    EXPECT_EQ(database.take().back(), "place(5)");
    EXPECT_THAT(log.lines, ElementsAre("outbox.requeued [5]"));
}

TEST_F(an_outbox, gives_what_a_unit_enqueued_once) {
    ASSERT_TRUE(outbox.insert({}));
    EXPECT_EQ(outbox.take_enqueued().size(), 1U);
    EXPECT_THAT(outbox.take_enqueued(), IsEmpty());
}

}  // namespace
}  // namespace posthorn
