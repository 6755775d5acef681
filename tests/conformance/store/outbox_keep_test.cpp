// What a person does with a dead message.
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

}  // namespace
}  // namespace posthorn::conformance
