// What operators do to messages that were given up.
#include "conformance/store/dead_letters.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const dead_change requeue{.what = dead_action::requeue};
dead_change resolve(std::string why) {
    return {.what = dead_action::resolve, .resolution = std::move(why)};
}
const dead_change remove{.what = dead_action::remove};

TEST_P(store_of_dead_letters, a_requeued_one_is_due_at_once_with_all_its_retries) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto done = change(body.id, requeue);
    ASSERT_TRUE(succeeded(done));
    EXPECT_EQ(done->id, body.id.to_string());
    EXPECT_EQ(done->status, outbox_status::pending);
    EXPECT_EQ(done->state, row(body.id)->state);
    const auto page = due("billing", noon);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].seq, seq);
    EXPECT_EQ(page.rows[0].attempts, 0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 1) << "the history stays";
    EXPECT_EQ(number("SELECT count(*) FROM outbox_closed"), 0);
    EXPECT_THAT(seqs(), IsEmpty());
}

TEST_P(store_of_dead_letters, a_resolved_one_says_why_and_when) {
    const auto body = sample();
    const auto seq = bury(body);
    ASSERT_TRUE(succeeded(change(body.id, resolve("paid by hand"), noon + 1h)));
    EXPECT_EQ(columns("status, resolution, last_error", seq),
              "Resolved|paid by hand|400 from billing");
    EXPECT_EQ(list({.status = outbox_status::resolved}).rows.at(0).closed_at, noon + 1h);
}

TEST_P(store_of_dead_letters, what_an_operator_closed_stays_so_when_a_dispatcher_settles_it_late) {
    const auto body = sample();
    const auto seq = bury(body);
    ASSERT_TRUE(succeeded(change(body.id, resolve("paid by hand"), noon + 1h)));
    for (const auto to : {outbox_status::sent, outbox_status::pending, outbox_status::dead})
        EXPECT_EQ(settle({{.seq = seq, .to = to, .at = noon + 2h, .error = "late"}}, epoch()), 0);
    EXPECT_EQ(columns("status, resolution, last_error", seq),
              "Resolved|paid by hand|400 from billing");
}

TEST_P(store_of_dead_letters, a_resolved_one_is_reopened_as_it_was) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto before = groups();
    const auto told = number("SELECT count(*) FROM outbox_ended");
    ASSERT_TRUE(succeeded(change(body.id, resolve("discarded"), noon + 1h)));
    const auto done = change(body.id, {.what = dead_action::reopen}, noon + 2h);
    ASSERT_TRUE(succeeded(done));
    EXPECT_EQ(done->status, outbox_status::dead);
    EXPECT_EQ(columns("status, coalesce(resolution, 'none'), last_error", seq),
              "Dead|none|400 from billing");
    EXPECT_EQ(list({}).rows.at(0).closed_at, noon + 2h);
    ASSERT_EQ(groups().groups.size(), 1U);
    EXPECT_EQ(groups().groups.at(0).count, before.groups.at(0).count);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_ended"), told) << "its end was told before";
    ASSERT_TRUE(succeeded(change(body.id, requeue, noon + 3h)));
    EXPECT_EQ(status(body.id), outbox_status::pending);
}

TEST_P(store_of_dead_letters, only_what_was_resolved_is_reopened) {
    const auto dead = sample();
    bury(dead);
    const auto late = change(dead.id, {.what = dead_action::reopen});
    ASSERT_TRUE(refused_with(late, error_code::state_changed));
    EXPECT_THAT(late.error().what(), HasSubstr("is Dead, not Resolved"));
}

TEST_P(store_of_dead_letters, a_repeat_by_its_dedupe_key_is_never_reopened) {
    auto first = sample();
    first.dedupe_key = "k";
    put(first);
    const auto other = disk().connect();
    ASSERT_EQ(other->run(fmt::format(
                  "INSERT INTO outbox_messages(message_id, destination, endpoint, payload,"
                  " dedupe_key, created_at, expires_at) VALUES ('{}', 'billing', 'E', '{{}}', 'k',"
                  " {}, {})",
                  sample().id.to_string(), noon.time_since_epoch().count(),
                  (noon + 1h).time_since_epoch().count())),
              std::nullopt);
    const auto resolved = sample();
    bury(resolved);
    ASSERT_TRUE(succeeded(change(resolved.id, resolve("repeats what was paid by hand"))));
    const dead_change reopen{.what = dead_action::reopen};
    const dead_filter all{.status = outbox_status::resolved};
    const auto both = list(all).rows;
    ASSERT_EQ(both.size(), 2U);
    const auto repeat = both.at(1).summary;

    const auto one = change(uuid::parse(repeat.id).value(), reopen);
    ASSERT_TRUE(refused_with(one, error_code::state_changed));
    EXPECT_THAT(one.error().what(), HasSubstr("it repeats " + first.id.to_string()));
    EXPECT_EQ(change_many(seqs(all), all, reopen)->changed, 1) << "the one that was given up";
    EXPECT_EQ(status(resolved.id), outbox_status::dead);
    EXPECT_EQ(columns("status, resolution, dedupe_key", repeat.seq),
              "Resolved|repeats " + first.id.to_string() + "|k");
    EXPECT_TRUE(succeeded(change(uuid::parse(repeat.id).value(), remove)));
}

TEST_P(store_of_dead_letters, a_deleted_one_leaves_nothing) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto done = change(body.id, remove);
    ASSERT_TRUE(succeeded(done));
    EXPECT_TRUE(done->removed);
    for (const auto* table :
         {"outbox_messages", "outbox_attempts", "outbox_closed", "outbox_ended"})
        EXPECT_EQ(number(fmt::format("SELECT count(*) FROM {} WHERE seq = {}", table, seq)), 0)
            << table;
    EXPECT_TRUE(refused_with(change(body.id, remove), error_code::not_found));
}

TEST_P(store_of_dead_letters, one_that_a_trigger_deletes_is_told_as_it_was_left) {
    const auto resolved = sample(), requeued = sample();
    bury(resolved);
    bury(requeued);
    const auto trigger = [&](std::string_view status) {
        const auto other = disk().connect();
        for (const auto& sql : disk().speaks().deleting_trigger) {
            const auto made =
                sql.find("{}") == sql.npos ? sql : fmt::format(fmt::runtime(sql), status);
            ASSERT_EQ(other->run(made), std::nullopt);
        }
    };
    trigger("Resolved");
    const auto done = change(resolved.id, resolve("paid by hand"));
    ASSERT_TRUE(succeeded(done));
    EXPECT_EQ(done->id, resolved.id.to_string());
    EXPECT_EQ(done->status, outbox_status::resolved);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1);
    ASSERT_EQ(disk().connect()->run("DROP TRIGGER forget" + disk().speaks().on_outbox),
              std::nullopt);
    if (disk().speaks().deleting_trigger.size() > 1)
        ASSERT_EQ(disk().connect()->run("DROP FUNCTION forget"), std::nullopt);
    trigger("Pending");
    const auto again = change(requeued.id, requeue);
    ASSERT_TRUE(succeeded(again));
    EXPECT_EQ(again->status, outbox_status::pending);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 0);
}

TEST_P(store_of_dead_letters, a_change_that_a_trigger_lets_vanish_is_an_error) {
    const auto body = sample();
    bury(body);
    swallow("UPDATE");
    for (const auto& how : {requeue, resolve("paid by hand")}) {
        const auto done = change(body.id, how);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code(), error_code::statement_failed);
        EXPECT_THAT(done.error().what(), HasSubstr("posthorn doctor"));
    }
    EXPECT_EQ(status(body.id), outbox_status::dead);
}

TEST_P(store_of_dead_letters, only_what_was_given_up_is_changed) {
    const auto pending = sample(), sent = sample(), resolved = sample();
    put(pending);
    close(sent, outbox_status::sent, "");
    close(resolved, outbox_status::resolved);
    for (const auto& each : {pending, sent, resolved}) {
        const auto before = row(each.id)->state;
        EXPECT_TRUE(refused_with(change(each.id, requeue), error_code::state_changed));
        EXPECT_TRUE(refused_with(change(each.id, resolve("x")), error_code::state_changed));
        EXPECT_TRUE(refused_with(edit(each.id, {.payload = "1"}), error_code::state_changed));
        EXPECT_EQ(row(each.id)->state, before);
    }
    EXPECT_TRUE(refused_with(change(pending.id, remove), error_code::state_changed));
    EXPECT_TRUE(refused_with(change(sent.id, remove), error_code::state_changed));
    EXPECT_TRUE(succeeded(change(resolved.id, remove)));
    EXPECT_TRUE(refused_with(change(new_id(), requeue), error_code::not_found));
    EXPECT_THAT(change(pending.id, requeue).error().what(), HasSubstr("is Pending"));
}

TEST_P(store_of_dead_letters, a_change_may_ask_for_the_state_that_was_seen) {
    const auto body = sample();
    bury(body);
    const auto seen = row(body.id)->state;
    ASSERT_TRUE(succeeded(edit(body.id, {.payload = R"({"order":"o2"})"}, seen)));
    for (const auto what : {dead_action::requeue, dead_action::resolve, dead_action::remove}) {
        const auto late = change(body.id, {.what = what, .if_state = seen});
        ASSERT_TRUE(refused_with(late, error_code::state_changed));
        EXPECT_THAT(late.error().what(), HasSubstr(row(body.id)->state));
    }
    EXPECT_TRUE(refused_with(edit(body.id, {.payload = "1"}, seen), error_code::state_changed));
    EXPECT_EQ(status(body.id), outbox_status::dead);
    const auto now = row(body.id)->state;
    EXPECT_TRUE(succeeded(change(body.id, {.what = dead_action::requeue, .if_state = now})));
}

TEST_P(store_of_dead_letters, a_message_that_died_again_is_in_another_state) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto seen = row(body.id)->state;
    ASSERT_TRUE(succeeded(change(body.id, requeue)));
    settle({{.seq = seq,
             .to = outbox_status::dead,
             .at = noon + 5s,
             .charged = true,
             .error = "400 from billing"}},
           dispatch());
    const auto late = change(body.id, {.what = dead_action::remove, .if_state = seen});
    EXPECT_TRUE(refused_with(late, error_code::state_changed));
}

TEST_P(store_of_dead_letters, an_edit_changes_what_it_names_and_keeps_the_id) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto before = row(body.id)->state;
    const auto done = edit(body.id, {.destination = "stock",
                                     .endpoint = "Reserve",
                                     .payload = "a=1",
                                     .headers = R"({"a":"b"})",
                                     .content_type = "text/plain",
                                     .max_retries = 9});
    ASSERT_TRUE(succeeded(done));
    EXPECT_EQ(done->id, body.id.to_string());
    EXPECT_EQ(done->status, outbox_status::dead);
    EXPECT_NE(done->state, before);
    EXPECT_EQ(columns("message_id, destination, endpoint, payload, headers, content_type,"
                      " max_retries, status",
                      seq),
              body.id.to_string() + R"(|stock|Reserve|a=1|{"a":"b"}|text/plain|9|Dead)");
    ASSERT_TRUE(succeeded(edit(body.id, {.headers = ""})));
    EXPECT_EQ(columns("headers, payload", seq), "null|a=1");
}

TEST_P(store_of_dead_letters, an_edit_leaves_a_note_among_the_attempts) {
    auto body = sample();
    body.payload = R"({"cents":777})";
    const auto seq = bury(body);
    ASSERT_TRUE(succeeded(
        edit(body.id, {.destination = "stock", .payload = R"({"cents":77})", .headers = ""})));
    const auto last = [&] {
        return disk().connect()->rows(fmt::format(
            "SELECT error FROM outbox_attempts WHERE seq = {} ORDER BY attempt DESC", seq));
    };
    ASSERT_EQ(last().size(), 2U);
    EXPECT_EQ(last()[0][0],
              "edited by an operator: payload (it had 13 bytes), destination (it was "
              "billing)");
    ASSERT_TRUE(succeeded(edit(body.id, {.payload = R"({"cents":77})"})));
    EXPECT_EQ(last().size(), 2U) << "nothing is another than it was";
}

TEST_P(store_of_dead_letters, an_edit_that_could_not_be_sent_is_refused) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto before = columns("*", seq);
    EXPECT_TRUE(refused_with(edit(body.id, {.payload = "{"}), error_code::invalid_payload));
    EXPECT_TRUE(refused_with(edit(body.id, {.headers = "[]"}), error_code::invalid_payload));
    EXPECT_TRUE(refused_with(edit(body.id, {.destination = ""}), error_code::invalid_argument));
    EXPECT_TRUE(refused_with(edit(body.id, {.max_retries = -2}), error_code::invalid_argument));
    EXPECT_TRUE(refused_with(edit(body.id, {.payload = std::string(2 << 20, '1')}),
                             error_code::message_too_large));
    EXPECT_EQ(columns("*", seq), before);
}

TEST_P(store_of_dead_letters, past_its_time_a_message_is_requeued_under_a_new_id_alone) {
    const auto body = sample();
    const auto seq = bury(body);
    const auto late = noon + 24h;
    const auto refused = change(body.id, requeue, late);
    ASSERT_TRUE(refused_with(refused, error_code::message_expired));
    EXPECT_THAT(refused.error().what(), HasSubstr("--new-id"));
    EXPECT_TRUE(refused_with(change(body.id, requeue, late - 500ms), error_code::message_expired));
    EXPECT_EQ(status(body.id), outbox_status::dead);
    const auto done = change(body.id, {.what = dead_action::requeue, .new_id = true}, late);
    ASSERT_TRUE(succeeded(done));
    EXPECT_NE(done->id, body.id.to_string());
    EXPECT_EQ(status(body.id), std::nullopt);
    const auto page = due("billing", late);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].seq, seq) << "its place stays";
    EXPECT_EQ(page.rows[0].body.id.to_string(), done->id);
    EXPECT_EQ(page.rows[0].body.id.version(), 7);
    EXPECT_EQ(page.rows[0].body.expires_at, late + 24h);
    EXPECT_EQ(text("SELECT error FROM outbox_attempts ORDER BY attempt DESC LIMIT 1"),
              "requeued under a new id; until then it was " + body.id.to_string());
}

TEST_P(store_of_dead_letters, a_new_id_may_have_another_time_to_live) {
    const auto body = sample();
    bury(body);
    const auto late = noon + 24h;
    const auto done =
        change(body.id, {.what = dead_action::requeue, .new_id = true, .expires_in = 90min}, late);
    ASSERT_TRUE(succeeded(done));
    const auto page = due("billing", late);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].body.created_at, late);
    EXPECT_EQ(page.rows[0].body.expires_at, late + 90min);
}

TEST_P(store_of_dead_letters, any_number_of_an_attempt_leaves_room_for_what_an_operator_does) {
    const auto body = sample();
    const auto seq = bury(body);
    for (const std::string_view last : {"9223372036854775807", "2147483647", "2147483646", "-9"}) {
        SCOPED_TRACE(last);
        ASSERT_EQ(disk().connect()->run(
                      fmt::format("INSERT INTO outbox_attempts (seq, attempt, at, error)"
                                  " VALUES ({}, {}, 0, 'by hand')",
                                  seq, last)),
                  std::nullopt);
        EXPECT_TRUE(succeeded(edit(body.id, {.endpoint = fmt::format("Charge{}", last)})));
    }
    EXPECT_TRUE(succeeded(change(body.id, {.what = dead_action::requeue, .new_id = true})));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts WHERE error LIKE '%until then it was%'"),
              1);
}

TEST_P(store_of_dead_letters, an_expired_one_is_requeued_under_a_new_id_alone) {
    const auto body = sample(), other = sample(), third = sample();
    for (const auto& each : {body, other, third}) close(each, outbox_status::expired);
    EXPECT_TRUE(refused_with(change(body.id, requeue), error_code::message_expired));
    EXPECT_TRUE(
        succeeded(change(body.id, {.what = dead_action::requeue, .new_id = true}, noon + 1h)));
    EXPECT_TRUE(succeeded(change(other.id, resolve("too late"))));
    EXPECT_TRUE(succeeded(change(third.id, remove)));
    EXPECT_THAT(seqs({.status = outbox_status::expired}), IsEmpty());
}

TEST_P(store_of_dead_letters, many_are_changed_if_they_still_fit) {
    std::vector<std::int64_t> all;
    const auto moved = sample(), gone = sample(), late = sample();
    for (const auto& each : {sample(), moved, gone, sample("stock"), sample()})
        all.push_back(bury(each));
    auto old = late;
    old.expires_at = noon + 1ms;
    all.push_back(bury(old));
    ASSERT_TRUE(succeeded(edit(moved.id, {.destination = "elsewhere"})));
    ASSERT_TRUE(succeeded(change(gone.id, remove)));
    const auto done = change_many(all, {.destination = "billing"}, requeue);
    ASSERT_TRUE(succeeded(done));
    EXPECT_EQ(done->changed, 2);
    EXPECT_EQ(done->expired, 1);
    EXPECT_EQ(due("billing", noon).rows.size(), 2U);
    const auto rest = change_many(all, {}, resolve("old"));
    ASSERT_TRUE(succeeded(rest));
    EXPECT_EQ(rest->changed, 3);
    EXPECT_EQ(change_many(all, {.status = outbox_status::resolved}, remove)->changed, 3);
}

TEST_P(store_of_dead_letters, of_an_order_key_the_first_goes_and_the_others_wait_for_it) {
    std::vector<message> chain;
    for (int i = 0; i < 3; ++i) {
        chain.push_back(sample());
        chain.back().order_key = "o1";
    }
    const auto first = bury(chain[0]), second = put(chain[1]), third = bury(chain[2]);
    EXPECT_THAT(due("billing", noon).rows, IsEmpty()) << "the dead one parks the second";
    // The last one is requeued first, and waits.
    ASSERT_TRUE(succeeded(change(chain[2].id, requeue)));
    EXPECT_THAT(due("billing", noon).rows, IsEmpty());
    ASSERT_TRUE(succeeded(change(chain[0].id, requeue)));
    const auto page = due("billing", noon);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].seq, first);
    EXPECT_LT(second, third);
}

TEST_P(store_of_dead_letters, who_waited_for_one_goes_when_it_is_resolved_deleted_or_moved) {
    for (int way = 0; way < 3; ++way) {
        auto head = sample(), follower = sample(), other = sample();
        for (auto* each : {&head, &follower}) each->order_key = fmt::format("o{}", way);
        other.order_key = fmt::format("o{}", way);
        other.tenant = "north";
        bury(head);
        const auto seq = put(follower);
        EXPECT_EQ(columns("CASE WHEN next_retry_at = expires_at THEN 1 END", seq), "1") << "parked";
        if (way == 0) ASSERT_TRUE(succeeded(change(head.id, resolve("done"))));
        if (way == 1) ASSERT_TRUE(succeeded(change(head.id, remove)));
        if (way == 2) ASSERT_TRUE(succeeded(edit(head.id, {.destination = "elsewhere"})));
        EXPECT_EQ(columns("next_retry_at", seq), "0") << way;
    }
}

TEST_P(store_of_dead_letters, dead_ones_past_their_time_expire_if_asked_and_are_told) {
    const auto a = sample();
    auto b = sample();
    b.expires_at = noon + 1h;
    const std::vector<std::int64_t> both{bury(a), bury(b, "no answer")};
    const auto expired = in_unit<std::int64_t>(
        [&](dead_letter_table& table) { return table.expire(both, noon + 1h); });
    ASSERT_TRUE(succeeded(expired));
    EXPECT_EQ(*expired, 1);
    EXPECT_EQ(status(a.id), outbox_status::dead);
    EXPECT_EQ(status(b.id), outbox_status::expired);
    EXPECT_EQ(columns("last_error", both[1]), "not delivered before it expired; last: no answer");
    EXPECT_EQ(number(fmt::format("SELECT count(*) FROM outbox_ended WHERE seq = {}", both[1])), 1);
    EXPECT_EQ(groups().groups.size(), 1U);
}

TEST_P(store_of_dead_letters, changes_are_in_the_change_log) {
    const auto a = sample(), b = sample(), c = sample(), d = sample();
    for (const auto& each : {a, b, c, d}) bury(each);
    ASSERT_TRUE(succeeded(change(a.id, requeue)));
    ASSERT_TRUE(succeeded(change(b.id, resolve("done"))));
    ASSERT_TRUE(succeeded(change(c.id, remove)));
    ASSERT_TRUE(succeeded(edit(d.id, {.endpoint = "Reserve"})));
    std::vector<std::string> kinds;
    for (const auto& each :
         disk().connect()->rows("SELECT kind FROM changes ORDER BY change_seq DESC LIMIT 4"))
        kinds.push_back(each.front().value_or(""));
    EXPECT_THAT(kinds, ElementsAre("outbox.edited", "outbox.deleted", "outbox.resolved",
                                   "outbox.requeued"));
}

TEST_P(store_of_dead_letters, a_change_in_a_refused_unit_is_undone) {
    const auto body = sample();
    bury(body);
    const auto before = row(body.id)->state;
    EXPECT_FALSE(run([&](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.dead_letters().change(body.id, requeue, noon));
        return fail(error_code::no_handler, "never mind");
    }));
    EXPECT_EQ(row(body.id)->state, before);
    EXPECT_EQ(groups().groups.at(0).count, 1);
}

}  // namespace
}  // namespace posthorn::conformance
