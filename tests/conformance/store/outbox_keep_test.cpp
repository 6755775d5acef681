// What a person does with a dead message, and what becomes of old ones.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

work requeue(const uuid& id, bool& changed) {
    return [id, &changed](store_transaction& tx) -> result<> {
        const auto done = tx.outbox().requeue(id);
        POSTHORN_TRY(done);
        changed = *done;
        return {};
    };
}

work purge(wall_time before, std::size_t limit, std::int64_t& count) {
    return [before, limit, &count](store_transaction& tx) -> result<> {
        const auto done = tx.outbox().purge_sent(before, limit);
        POSTHORN_TRY(done);
        count = *done;
        return {};
    };
}

TEST_P(store, a_dead_message_that_is_requeued_is_due_with_all_its_retries) {
    const auto body = sample();
    const auto seq = put(body);
    settle({{.seq = seq,
             .to = outbox_status::dead,
             .at = noon,
             .charged = true,
             .error = "no answer"}},
           dispatch());
    bool changed = false;
    must(requeue(body.id, changed));
    EXPECT_TRUE(changed);
    EXPECT_EQ(status(body.id), outbox_status::pending);
    const auto page = due("billing", noon);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows.front().attempts, 0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 1);  // What happened stays.
    EXPECT_EQ(number("SELECT count(*) FROM changes WHERE kind = 'outbox.requeued'"), 1);
}

TEST_P(store, only_a_dead_message_is_requeued) {
    const auto pending = sample();
    put(pending);
    const auto sent = sample();
    settle({{.seq = put(sent), .to = outbox_status::sent, .at = noon}}, dispatch());
    for (const auto& id : {pending.id, sent.id, new_id()}) {
        bool changed = true;
        must(requeue(id, changed));
        EXPECT_FALSE(changed);
    }
    EXPECT_EQ(status(sent.id), outbox_status::sent);
}

TEST_P(store, sent_messages_are_purged_oldest_first_in_slices_with_their_attempts) {
    const auto epoch = dispatch();
    std::vector<message> bodies;
    for (int i = 0; i < 5; ++i) {
        const auto seq = put(bodies.emplace_back(sample()));
        settle({{.seq = seq,
                 .to = outbox_status::pending,
                 .at = noon,
                 .next_attempt_at = noon,
                 .charged = true,
                 .error = "once"}},
               epoch);
        settle({{.seq = seq, .to = outbox_status::sent, .at = noon + i * 1h}}, epoch);
    }
    std::int64_t count = 0;
    must(purge(noon + 3h, 2, count));
    EXPECT_EQ(count, 2);
    EXPECT_FALSE(status(bodies[0].id) || status(bodies[1].id));
    must(purge(noon + 3h, 2, count));
    EXPECT_EQ(count, 1);
    EXPECT_EQ(status(bodies[3].id), outbox_status::sent);  // Not before its time.
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 2);
}

TEST_P(store, what_was_not_sent_is_never_purged) {
    put(sample());
    settle({{.seq = put(sample()), .to = outbox_status::dead, .at = noon}}, dispatch());
    std::int64_t count = -1;
    must(purge(noon + 24h * 365, 100, count));
    EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace posthorn::conformance
