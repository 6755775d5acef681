// What becomes of a message after an attempt.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

/// A row's columns as text, NULL as "null".
std::string columns(storage& disk, const std::string& names, std::int64_t seq) {
    const auto found = disk.connect()->rows(
        fmt::format("SELECT {} FROM outbox_messages WHERE seq = {}", names, seq));
    if (found.empty()) return "no row";
    std::string all;
    for (const auto& each : found.front()) all += (all.empty() ? "" : "|") + each.value_or("null");
    return all;
}

constexpr auto state = "status, retry_count, last_attempt_at, last_error, sent_at, resolution";

TEST_P(store, a_sent_message_says_when) {
    const auto body = sample();
    const auto seq = put(body);
    EXPECT_EQ(settle({{.seq = seq, .to = outbox_status::sent, .at = noon + 5ms}}, dispatch()), 1);
    EXPECT_EQ(columns(disk(), "status, retry_count, sent_at, last_error", seq),
              "Sent|0|1900000000005|null");
    EXPECT_EQ(status(body.id), outbox_status::sent);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 0);
}

TEST_P(store, a_charged_retry_counts_and_keeps_its_reason) {
    const auto body = sample();
    const auto seq = put(body);
    const auto epoch = dispatch();
    const auto retry = [&](wall_time at, const std::string& why) {
        return settle({{.seq = seq,
                        .to = outbox_status::pending,
                        .at = at,
                        .next_attempt_at = at + 30s,
                        .charged = true,
                        .error = why}},
                      epoch);
    };
    EXPECT_EQ(retry(noon, "no answer"), 1);
    EXPECT_EQ(columns(disk(), state, seq), "Pending|1|1900000000000|no answer|null|null");
    EXPECT_EQ(due("billing", noon + 30s - 1ms).rows.size(), 0U);
    const auto page = due("billing", noon + 30s);
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows.front().attempts, 1);

    EXPECT_EQ(retry(noon + 30s, "refused: Grüße"), 1);
    EXPECT_EQ(due("billing", noon + 1h).rows.front().attempts, 2);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 2);
    const auto tried = disk().connect()->rows(fmt::format(
        "SELECT attempt, at, error FROM outbox_attempts WHERE seq = {} ORDER BY attempt", seq));
    ASSERT_EQ(tried.size(), 2U);
    EXPECT_EQ(tried[0], (foreign_connection::row{"1", "1900000000000", "no answer"}));
    EXPECT_EQ(tried[1], (foreign_connection::row{"2", "1900000030000", "refused: Grüße"}));
}

TEST_P(store, an_uncharged_retry_only_moves_the_time) {
    const auto body = sample();
    const auto seq = put(body);
    EXPECT_EQ(settle({{.seq = seq,
                       .to = outbox_status::pending,
                       .at = noon,
                       .next_attempt_at = noon + 7s,
                       .error = "throttled"}},
                     dispatch()),
              1);
    EXPECT_EQ(columns(disk(), "status, retry_count", seq), "Pending|0");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 0);
    EXPECT_EQ(due("billing", noon + 7s - 1ms).rows.size(), 0U);
    ASSERT_EQ(due("billing", noon + 7s).rows.size(), 1U);
    EXPECT_EQ(due("billing", noon + 7s).rows.front().attempts, 0);
}

TEST_P(store, a_dead_message_keeps_the_reason) {
    const auto body = sample();
    const auto seq = put(body);
    EXPECT_EQ(settle({{.seq = seq,
                       .to = outbox_status::dead,
                       .at = noon,
                       .charged = true,
                       .error = "400 from billing"}},
                     dispatch()),
              1);
    EXPECT_EQ(status(body.id), outbox_status::dead);
    EXPECT_EQ(columns(disk(), "status, retry_count, last_error, sent_at", seq),
              "Dead|1|400 from billing|null");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts WHERE error = '400 from billing'"), 1);
}

TEST_P(store, a_message_buried_without_an_attempt_has_none_recorded) {
    const auto seq = put(sample());
    EXPECT_EQ(settle({{.seq = seq, .to = outbox_status::dead, .at = noon, .error = "malformed id"}},
                     dispatch()),
              1);
    EXPECT_EQ(columns(disk(), "status, retry_count, last_error", seq), "Dead|0|malformed id");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 0);
}

TEST_P(store, an_expired_message_is_neither_sent_nor_dead) {
    const auto body = sample();
    const auto seq = put(body);
    EXPECT_EQ(settle({{.seq = seq, .to = outbox_status::expired, .at = noon}}, dispatch()), 1);
    EXPECT_EQ(status(body.id), outbox_status::expired);
    EXPECT_EQ(columns(disk(), "status, sent_at", seq), "Expired|null");
}

TEST_P(store, a_resolved_message_says_why) {
    const auto body = sample();
    const auto seq = put(body);
    EXPECT_EQ(settle({{.seq = seq,
                       .to = outbox_status::resolved,
                       .at = noon,
                       .resolution = "repeats the dedupe key of another"}},
                     dispatch()),
              1);
    EXPECT_EQ(status(body.id), outbox_status::resolved);
    EXPECT_EQ(columns(disk(), "status, resolution, sent_at", seq),
              "Resolved|repeats the dedupe key of another|null");
}

TEST_P(store, a_message_that_failed_and_was_sent_keeps_its_attempts) {
    const auto seq = put(sample());
    const auto epoch = dispatch();
    settlement failed{.seq = seq, .to = outbox_status::pending, .at = noon};
    failed.next_attempt_at = noon + 1s;
    failed.charged = true;
    failed.error = "no answer";
    EXPECT_EQ(settle({failed}, epoch), 1);
    EXPECT_EQ(settle({{.seq = seq, .to = outbox_status::sent, .at = noon + 2s}}, epoch), 1);
    EXPECT_EQ(columns(disk(), "status, retry_count, sent_at", seq), "Sent|1|1900000002000");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 1);
}

TEST_P(store, a_message_that_is_no_longer_pending_is_left_as_it_is) {
    const auto epoch = dispatch();
    for (const auto first : {outbox_status::sent, outbox_status::dead, outbox_status::expired,
                             outbox_status::resolved}) {
        const auto seq = put(sample());
        ASSERT_EQ(settle({{.seq = seq, .to = first, .at = noon, .error = "first"}}, epoch), 1);
        const auto before = columns(disk(), "*", seq);
        for (const auto second : {outbox_status::sent, outbox_status::dead, outbox_status::pending,
                                  outbox_status::expired, outbox_status::resolved}) {
            EXPECT_EQ(settle({{.seq = seq,
                               .to = second,
                               .at = noon + 9s,
                               .next_attempt_at = noon + 9s,
                               .charged = true,
                               .error = "second",
                               .resolution = "second"}},
                             epoch),
                      0);
            EXPECT_EQ(columns(disk(), "*", seq), before);
        }
        EXPECT_EQ(number(fmt::format("SELECT count(*) FROM outbox_attempts WHERE seq = {}", seq)),
                  0);
    }
}

TEST_P(store, settling_a_message_that_does_not_exist_changes_nothing) {
    EXPECT_EQ(settle({{.seq = 12345, .at = noon, .charged = true, .error = "x"}}, dispatch()), 0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 0);
}

TEST_P(store, settling_nothing_changes_nothing) { EXPECT_EQ(settle({}, dispatch()), 0); }

TEST_P(store, one_settle_may_hold_every_kind_of_outcome) {
    std::vector<settlement> outcomes;
    for (const auto to : {outbox_status::sent, outbox_status::pending, outbox_status::dead,
                          outbox_status::expired, outbox_status::resolved, outbox_status::sent}) {
        outcomes.push_back({.seq = put(sample()), .to = to, .at = noon, .next_attempt_at = noon});
        outcomes.back().charged = to == outbox_status::pending || to == outbox_status::dead;
        if (outcomes.back().charged) outcomes.back().error = "no answer";
    }
    EXPECT_EQ(settle(outcomes, dispatch()), 6);
    const auto counts =
        look<outbox_counts>([](store_reader& reader) { return reader.outbox().counts(); });
    EXPECT_EQ(counts.sent, 2);
    EXPECT_EQ(counts.pending, 1);
    EXPECT_EQ(counts.dead, 1);
    EXPECT_EQ(counts.expired, 1);
    EXPECT_EQ(counts.resolved, 1);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 2);
}

TEST_P(store, counts_of_an_empty_outbox_are_zero) {
    const auto counts =
        look<outbox_counts>([](store_reader& reader) { return reader.outbox().counts(); });
    EXPECT_EQ(counts.pending + counts.sent + counts.dead + counts.expired + counts.resolved, 0);
}

TEST_P(store, counts_see_the_messages_of_others) {
    db();
    const auto other = disk().connect();
    ASSERT_EQ(other->run("INSERT INTO outbox_messages(destination, endpoint, payload) "
                         "VALUES ('billing', 'Charge', '{}')"),
              std::nullopt);
    put(sample());
    const auto counts =
        look<outbox_counts>([](store_reader& reader) { return reader.outbox().counts(); });
    EXPECT_EQ(counts.pending, 2);
}

TEST_P(store, a_settle_with_an_older_epoch_is_refused_and_changes_nothing) {
    const auto body = sample();
    const auto seq = put(body);
    const auto old = dispatch();
    const auto current = dispatch();
    const auto before = columns(disk(), "*", seq);
    EXPECT_TRUE(refused_with(settle({{.seq = seq, .at = noon, .charged = true, .error = "x"}}, old),
                             error_code::lease_lost));
    EXPECT_TRUE(
        refused_with(settle({{.seq = seq, .at = noon}}, current + 1), error_code::lease_lost));
    EXPECT_EQ(columns(disk(), "*", seq), before);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_attempts"), 0);
    EXPECT_EQ(settle({{.seq = seq, .at = noon}}, current), 1);
}

TEST_P(store, a_lost_lease_is_noticed_even_where_the_loss_came_from_outside) {
    const auto seq = put(sample());
    const auto epoch = dispatch();
    const auto other = disk().connect();
    ASSERT_EQ(other->run("UPDATE posthorn_leases SET epoch = epoch + 1, owner = 'other'"),
              std::nullopt);
    EXPECT_TRUE(refused_with(settle({{.seq = seq, .at = noon}}, epoch), error_code::lease_lost));
}

TEST_P(store, a_settle_where_nobody_ever_dispatched_is_refused) {
    const auto seq = put(sample());
    EXPECT_TRUE(refused_with(settle({{.seq = seq, .at = noon}}, 1), error_code::lease_lost));
    EXPECT_EQ(columns(disk(), "status", seq), "Pending");
}

TEST_P(store, a_settle_in_a_refused_unit_is_undone) {
    const auto body = sample();
    const auto seq = put(body);
    const auto epoch = dispatch();
    const auto outcome = run([&](store_transaction& tx) -> result<> {
        const std::vector<settlement> sent{{.seq = seq, .at = noon}};
        POSTHORN_TRY(tx.outbox().settle(sent, epoch));
        return fail(error_code::no_handler, "never mind");
    });
    EXPECT_FALSE(outcome);
    EXPECT_EQ(status(body.id), outbox_status::pending);
}

TEST_P(store, an_expiry_keeps_what_went_wrong_before) {
    const auto epoch = dispatch();
    const auto failed = put(sample());
    const auto untried = put(sample());
    settle({{.seq = failed,
             .to = outbox_status::pending,
             .at = noon,
             .next_attempt_at = noon,
             .charged = true,
             .error = "no_handler: none"}},
           epoch);
    for (const auto seq : {failed, untried})
        settle({{.seq = seq,
                 .to = outbox_status::expired,
                 .at = noon,
                 .error = "too late",
                 .keeps_last_error = true}},
               epoch);
    const auto error_of = [&](std::int64_t seq) {
        return text(fmt::format("SELECT last_error FROM outbox_messages WHERE seq = {}", seq));
    };
    EXPECT_EQ(error_of(failed), "too late; last: no_handler: none");
    EXPECT_EQ(error_of(untried), "too late");
}

TEST_P(store, an_outcome_that_a_trigger_lets_vanish_is_an_error_and_a_message_too) {
    const auto epoch = dispatch();
    const auto seq = put(sample()), next = put(sample());
    swallow("UPDATE");
    for (const auto to : {outbox_status::sent, outbox_status::pending, outbox_status::dead}) {
        const auto one =
            settle({{.seq = seq, .to = to, .at = noon, .next_attempt_at = noon}}, epoch);
        ASSERT_FALSE(one) << to_string(to);
        EXPECT_EQ(one.error().code(), error_code::statement_failed);
    }
    const auto two = settle({{.seq = seq, .at = noon}, {.seq = next, .at = noon}}, epoch);
    ASSERT_FALSE(two) << "together";
    EXPECT_EQ(two.error().code(), error_code::statement_failed);
    ASSERT_EQ(disk().connect()->run("DROP TRIGGER hush" + disk().speaks().on_outbox), std::nullopt);
    swallow("INSERT");
    const auto sent = run(enqueue(sample()));
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code(), error_code::statement_failed);
    EXPECT_EQ(settle({{.seq = seq, .at = noon}, {.seq = next, .at = noon}}, epoch), 2);
}

}  // namespace
}  // namespace posthorn::conformance
