// Messages that were given up are kept in mind until somebody was told of each.
#include <functional>

#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

work tell(std::int64_t seq, bool& news) {
    return [seq, &news](store_transaction& tx) -> result<> {
        const auto done = tx.outbox().mark_notified(seq);
        POSTHORN_TRY(done);
        news = *done;
        return {};
    };
}

std::function<result<std::vector<final_row>>(store_reader&)> ended(std::int64_t after = 0,
                                                                   std::size_t limit = 10) {
    return [=](store_reader& reader) { return reader.outbox().ended(after, limit); };
}

settlement given_up(std::int64_t seq, outbox_status how) {
    return {.seq = seq, .to = how, .at = noon, .charged = true, .error = "no answer"};
}

TEST_P(store, names_the_dead_and_the_expired_with_their_last_error_and_no_others) {
    const auto dead = sample();
    const auto expired = sample();
    const auto dead_seq = put(dead);
    const auto expired_seq = put(expired);
    settle({given_up(dead_seq, outbox_status::dead), given_up(expired_seq, outbox_status::expired),
            given_up(put(sample()), outbox_status::sent),
            given_up(put(sample()), outbox_status::resolved),
            given_up(put(sample()), outbox_status::pending)},
           dispatch());
    const auto rows = look(ended());
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].row.seq, dead_seq);
    EXPECT_EQ(rows[0].row.body.id, dead.id);
    EXPECT_EQ(rows[0].row.body.payload, dead.payload);
    EXPECT_EQ(rows[0].row.attempts, 1);
    EXPECT_EQ(rows[0].status, outbox_status::dead);
    EXPECT_EQ(rows[0].error, "no answer");
    EXPECT_EQ(rows[1].row.seq, expired_seq);
    EXPECT_EQ(rows[1].status, outbox_status::expired);
    EXPECT_EQ(look(ended(dead_seq)).size(), 1U);
    EXPECT_EQ(look(ended(0, 1)).size(), 1U);
}

TEST_P(store, says_of_an_ended_message_whether_it_may_have_taken_effect) {
    const auto never_sent = put(sample());
    const auto unanswered = put(sample());
    const auto tried = put(sample());
    const settlement silence{.seq = unanswered,
                             .to = outbox_status::pending,
                             .at = noon,
                             .next_attempt_at = noon,
                             .effect_unknown = true,
                             .error = "no answer"};
    settle({silence}, dispatch());
    settle({silence}, dispatch());
    for (const auto seq : {never_sent, unanswered})
        settle({{.seq = seq, .to = outbox_status::expired, .at = noon, .error = "too late"}},
               dispatch());
    settle({given_up(tried, outbox_status::dead)}, dispatch());
    const auto rows = look(ended());
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_FALSE(rows[0].may_have_taken_effect);
    EXPECT_TRUE(rows[1].may_have_taken_effect);
    EXPECT_EQ(rows[1].row.attempts, 0);
    EXPECT_TRUE(rows[2].may_have_taken_effect);
}

TEST_P(store, an_end_is_news_once) {
    const auto seq = put(sample());
    settle({given_up(seq, outbox_status::dead)}, dispatch());
    bool news = false;
    must(tell(seq, news));
    EXPECT_TRUE(news);
    EXPECT_TRUE(look(ended()).empty());
    must(tell(seq, news));
    EXPECT_FALSE(news);
}

TEST_P(store, a_message_that_lives_again_is_no_news) {
    const auto body = sample();
    const auto seq = put(body);
    settle({given_up(seq, outbox_status::dead)}, dispatch());
    must([id = body.id](store_transaction& tx) -> result<> {
        const auto done = tx.outbox().requeue(id);
        POSTHORN_TRY(done);
        return {};
    });
    bool news = true;
    must(tell(seq, news));
    EXPECT_FALSE(news);
    EXPECT_TRUE(look(ended()).empty());
}

TEST_P(store, a_unit_that_fails_has_told_nobody) {
    const auto seq = put(sample());
    settle({given_up(seq, outbox_status::dead)}, dispatch());
    EXPECT_FALSE(run([seq](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.outbox().mark_notified(seq));
        return fail(error_code::statement_failed, "the hook failed");
    }));
    EXPECT_EQ(look(ended()).size(), 1U);
}

}  // namespace
}  // namespace posthorn::conformance
