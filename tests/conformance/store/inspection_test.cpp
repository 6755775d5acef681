// What a person sees of the outbox and the inbox.
#include "conformance/store/inspection.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST_P(inspected_store, counts_each_status_up_to_a_limit) {
    for (const auto status : {outbox_status::sent, outbox_status::dead, outbox_status::expired,
                              outbox_status::resolved}) {
        for (int i = 0; i <= static_cast<int>(status); ++i) put_as(status, sample());
    }
    put(sample());
    EXPECT_EQ(count(outbox_status::pending), (bounded_count{1, false}));
    EXPECT_EQ(count(outbox_status::sent), (bounded_count{2, false}));
    EXPECT_EQ(count(outbox_status::dead), (bounded_count{3, false}));
    EXPECT_EQ(count(outbox_status::expired), (bounded_count{4, false}));
    EXPECT_EQ(count(outbox_status::resolved), (bounded_count{5, false}));
    EXPECT_EQ(count(outbox_status::resolved, 5), (bounded_count{5, false}));
    EXPECT_EQ(count(outbox_status::resolved, 4), (bounded_count{4, true}));
    EXPECT_EQ(count(outbox_status::pending, 0), (bounded_count{0, true}));
}

TEST_P(inspected_store, counts_dead_messages_apart_from_deliveries_to_subscribers) {
    const auto dead_messages = [&](std::int64_t at_most) {
        return look<bounded_count>(
            [&](store_reader& from) { return from.inspect().count_dead_messages(at_most); });
    };
    auto delivery = sample();
    delivery.destination = "webhook:01900000-0000-7000-8000-000000000001";
    for (int i = 0; i < 3; ++i) {
        delivery.id = new_id();
        put_as(outbox_status::dead, delivery);
    }
    EXPECT_EQ(count(outbox_status::dead), (bounded_count{3, false}));
    EXPECT_EQ(dead_messages(100), (bounded_count{0, false}));
    put_as(outbox_status::dead, sample());
    EXPECT_EQ(dead_messages(100), (bounded_count{1, false}));
    EXPECT_EQ(dead_messages(0), (bounded_count{0, true}))
        << "though more are dead than are counted";
}

TEST_P(inspected_store, lists_the_newest_first_in_pages) {
    std::vector<std::int64_t> all;
    for (int i = 0; i < 5; ++i) all.push_back(put(sample()));
    const auto first = list(message_filter{.limit = 2});
    ASSERT_EQ(first.rows.size(), 2U);
    EXPECT_EQ(first.rows[0].seq, all[4]);
    EXPECT_EQ(first.next, all[3]);
    EXPECT_THAT(seqs({.before_seq = first.next, .limit = 2}), ElementsAre(all[2], all[1]));
    const auto last = list(message_filter{.before_seq = all[1], .limit = 2});
    ASSERT_EQ(last.rows.size(), 1U);
    EXPECT_EQ(last.next, 0);
    EXPECT_EQ(list(message_filter{.limit = 5}).next, 0);
}

TEST_P(inspected_store, lists_each_status_in_pages) {
    for (const auto status : {outbox_status::pending, outbox_status::sent, outbox_status::dead,
                              outbox_status::expired, outbox_status::resolved}) {
        SCOPED_TRACE(to_string(status));
        std::vector<std::int64_t> own;
        for (int i = 0; i < 3; ++i) {
            own.push_back(status == outbox_status::pending ? put(sample())
                                                           : put_as(status, sample()));
        }
        const auto page = list(message_filter{.status = status, .limit = 2});
        ASSERT_EQ(page.rows.size(), 2U);
        EXPECT_EQ(page.rows[0].status, status);
        EXPECT_EQ(page.next, own[1]);
        EXPECT_THAT(seqs({.status = status, .before_seq = page.next}), ElementsAre(own[0]));
    }
}

TEST_P(inspected_store, finds_by_destination_endpoint_and_age) {
    auto old = sample("billing");
    old.created_at = noon - 1h;
    auto other = sample("billing");
    other.endpoint = "OrderCancelled";
    const auto a = put(old), b = put(other), c = put(sample("stock"));
    const auto dead = put_as(outbox_status::dead, sample("stock"));
    for (const std::optional status : {std::optional<outbox_status>{}, {outbox_status::pending}}) {
        EXPECT_THAT(seqs({.status = status, .destination = "billing"}), ElementsAre(b, a));
        EXPECT_THAT(seqs({.status = status, .endpoint = "OrderCancelled"}), ElementsAre(b));
        EXPECT_THAT(seqs({.status = status, .destination = "billing", .since = noon}),
                    ElementsAre(b));
        EXPECT_THAT(seqs({.status = status, .until = noon}), ElementsAre(a));
        EXPECT_THAT(seqs({.status = status, .since = noon - 1h, .until = noon}), ElementsAre(a));
        EXPECT_THAT(seqs({.status = status, .since = noon - 59min, .until = noon}), ElementsAre());
    }
    EXPECT_THAT(seqs({.destination = "stock"}), ElementsAre(dead, c));
    EXPECT_THAT(seqs({.status = outbox_status::dead, .destination = "stock"}), ElementsAre(dead));
    EXPECT_THAT(seqs({.status = outbox_status::dead, .destination = "billing"}), ElementsAre());
    EXPECT_THAT(seqs({.status = outbox_status::dead, .until = noon + 1ms}), ElementsAre(dead));
    EXPECT_THAT(seqs({.status = outbox_status::dead, .until = noon}), ElementsAre());
}

TEST_P(inspected_store, finds_what_was_made_before_a_time_below_very_many_newer_rows) {
    const auto first = put(sample()), second = put(sample());
    const auto later = (noon + 1h).time_since_epoch().count();
    for (int thousand = 0; thousand < 30; ++thousand)
        must(
            fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload, created_at,"
                        " expires_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                        " FROM n WHERE i < 1000) SELECT 'billing', 'OrderApproved', '{{}}', {}, {}"
                        " FROM n",
                        later, later + 86'400'000));
    for (const std::optional status : {std::optional<outbox_status>{}, {outbox_status::pending}}) {
        EXPECT_THAT(seqs({.status = status, .until = noon + 1ms}), ElementsAre(second, first));
        EXPECT_THAT(seqs({.status = status, .until = noon + 1ms, .before_seq = second}),
                    ElementsAre(first));
        EXPECT_THAT(seqs({.status = status, .until = noon}), ElementsAre());
    }
    const auto page = list(message_filter{.until = noon + 1ms, .limit = 1});
    EXPECT_EQ(page.next, second);
    EXPECT_GT(list(message_filter{.until = noon + 2h}).rows.at(0).seq, page.rows.at(0).seq);
}

TEST_P(inspected_store, a_page_has_a_thousand_rows_at_most) {
    std::vector<work> many;
    for (std::size_t i = 0; i <= list_rows_max; ++i) many.push_back(enqueue(sample()));
    run_all(std::move(many));
    for (const std::optional status : {std::optional<outbox_status>{}, {outbox_status::pending}}) {
        const auto page = list(message_filter{.status = status, .limit = 5000});
        EXPECT_EQ(page.rows.size(), list_rows_max);
        EXPECT_GT(page.next, 0);
    }
}

TEST_P(inspected_store, shows_a_message_with_its_attempts_and_the_payload_if_asked) {
    auto body = sample();
    body.payload = R"({"name":"Zoë"})";
    body.headers = R"({"a":"b"})";
    body.deliver_at = noon + 1min;
    const auto seq = put(body);
    for (int i = 1; i <= 2; ++i)
        settle({{.seq = seq,
                 .to = outbox_status::pending,
                 .at = noon + i * 1min,
                 .next_attempt_at = noon + 1h,
                 .charged = true,
                 .error = "no answer " + std::to_string(i)}},
               epoch());
    const auto seen = show(body.id, true);
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->summary.id, body.id.to_string());
    EXPECT_EQ(seen->summary.attempts, 2);
    EXPECT_EQ(seen->summary.last_error, "no answer 2");
    EXPECT_EQ(seen->summary.next_attempt_at, noon + 1h);
    EXPECT_EQ(seen->summary.deliver_at, noon + 1min);
    EXPECT_EQ(seen->summary.sent_at, std::nullopt);
    EXPECT_EQ(seen->payload, body.payload);
    EXPECT_EQ(seen->headers, body.headers);
    EXPECT_THAT(seen->attempts, ElementsAre(attempt_entry{1, noon + 1min, "no answer 1"},
                                            attempt_entry{2, noon + 2min, "no answer 2"}));
    const auto without = show(body.id, false);
    ASSERT_TRUE(without);
    EXPECT_EQ(without->payload_bytes, std::ssize(body.payload));
    EXPECT_EQ(without->payload + without->headers, "");
    EXPECT_FALSE(show(new_id(), true));
}

TEST_P(inspected_store, tells_the_backlog_of_each_destination_and_its_age) {
    auto old = sample("billing");
    old.created_at = noon - 10min;
    put(old);
    put(sample("billing"));
    put(sample("stock"));
    put_as(outbox_status::sent, sample("stock"));
    const auto seen = backlog(noon);
    ASSERT_EQ(seen.destinations.size(), 2U);
    EXPECT_FALSE(seen.more);
    EXPECT_EQ(seen.destinations[0].destination, "billing");
    EXPECT_EQ(seen.destinations[0].pending, (bounded_count{2, false}));
    EXPECT_EQ(seen.destinations[0].oldest, noon - 10min);
    EXPECT_EQ(seen.destinations[1].pending, (bounded_count{1, false}));
    EXPECT_EQ(backlog(noon, {.count_max = 1}).destinations[0].pending, (bounded_count{1, true}));
    const auto one = backlog(noon, {.destinations_max = 1});
    EXPECT_EQ(one.destinations.size(), 1U);
    EXPECT_TRUE(one.more);
}

TEST_P(inspected_store, a_message_that_waits_between_retries_counts_as_backlog) {
    const auto seq = put(sample());
    settle({{.seq = seq,
             .to = outbox_status::pending,
             .at = noon,
             .next_attempt_at = noon + 1h,
             .charged = true,
             .error = "no answer"}},
           epoch());
    const auto seen = backlog(noon + 10min);
    ASSERT_EQ(seen.destinations.size(), 1U);
    EXPECT_EQ(seen.destinations[0].oldest, noon);
    EXPECT_EQ(seen.destinations[0].undeliverable.value, 0);
}

TEST_P(inspected_store, a_message_for_later_is_pending_but_not_late) {
    auto later = sample();
    later.deliver_at = noon + 1h;
    put(later);
    const auto before = backlog(noon + 30min);
    ASSERT_EQ(before.destinations.size(), 1U);
    EXPECT_EQ(before.destinations[0].pending.value, 1);
    EXPECT_EQ(before.destinations[0].oldest, std::nullopt);
    EXPECT_EQ(backlog(noon + 61min).destinations[0].oldest, noon + 1h);
}

TEST_P(inspected_store, tells_what_is_undeliverable_while_it_waits_and_when_it_is_due) {
    std::vector<settlement> held;
    for (const auto* why :
         {"no route to 'billing'; add it", "no_handler: of OrderApproved", "busy"})
        held.push_back({.seq = put(sample()),
                        .to = outbox_status::pending,
                        .at = noon,
                        .next_attempt_at = noon + 30s,
                        .error = why});
    settle(held, epoch());
    for (const auto now : {noon + 1s, noon + 1min}) {
        const auto seen = backlog(now);
        ASSERT_EQ(seen.destinations.size(), 1U);
        EXPECT_EQ(seen.destinations[0].undeliverable, (bounded_count{2, false}));
        EXPECT_EQ(seen.destinations[0].undeliverable_error, held[0].error);
    }
    EXPECT_EQ(backlog(noon, {.rows_max = 1}).destinations[0].undeliverable,
              (bounded_count{1, true}));
}

TEST_P(inspected_store, counts_and_lists_what_was_taken_in) {
    take_in("shop", 3);
    take_in("till", 1);
    const auto size = [&](std::int64_t at_most) {
        return look<bounded_count>(
            [&](store_reader& from) { return from.inspect().inbox_size(at_most); });
    };
    EXPECT_EQ(size(4), (bounded_count{4, false}));
    EXPECT_EQ(size(2), (bounded_count{4, true}));  // From the ends of the table.
    const auto page = list(inbox_filter{.limit = 3});
    ASSERT_EQ(page.rows.size(), 3U);
    EXPECT_EQ(page.rows[0].source, "till");
    EXPECT_EQ(page.rows[0].processed_at, noon);
    EXPECT_EQ(list(inbox_filter{.before_seq = page.next}).rows.size(), 1U);
    EXPECT_EQ(list(inbox_filter{.source = "shop"}).rows.size(), 3U);
    EXPECT_EQ(list(inbox_filter{.source = "shop"}).next, 0);
}

TEST_P(inspected_store, finds_what_was_taken_in_by_what_is_kept_of_it) {
    take_in("shop", 2);
    take_in("till", 1);
    must([&, id = new_id()](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().insert({.key = {"shop", id},
                                        .endpoint = "Ship",
                                        .processed_at = noon + 1h,
                                        .expires_at = noon + 48h}));
        return {};
    });
    must([&, id = new_id()](store_transaction& tx) -> result<> {
        POSTHORN_TRY(tx.inbox().claim({.key = {"shop", id},
                                       .endpoint = "Ship",
                                       .owner = "worker",
                                       .until = noon + 2h,
                                       .expires_at = noon + 48h},
                                      noon));
        return {};
    });
    const auto found = [&](const inbox_filter& wanted) {
        const auto page = list(wanted);
        EXPECT_EQ(page.next, 0);
        return page.rows.size();
    };
    EXPECT_EQ(found({}), 5U);
    EXPECT_EQ(found({.endpoint = "Ship"}), 2U);
    EXPECT_EQ(found({.source = "till", .endpoint = "Ship"}), 0U);
    EXPECT_EQ(found({.processed = true}), 4U);
    EXPECT_EQ(found({.processed = false}), 1U);
    EXPECT_EQ(found({.since = noon}), 4U);
    EXPECT_EQ(found({.since = noon + 1ms}), 1U);
    EXPECT_EQ(found({.until = noon + 1h}), 3U);
    EXPECT_EQ(found({.until = noon}), 0U);
    EXPECT_EQ(found({.processed = false, .since = noon}), 0U) << "it has not taken effect yet";
    EXPECT_EQ(list(inbox_filter{.source = "shop", .limit = 2}).rows.size(), 2U);
    EXPECT_GT(list(inbox_filter{.source = "shop", .limit = 2}).next, 0);
}

TEST_P(inspected_store, an_empty_inbox_has_the_size_zero) {
    EXPECT_EQ(
        look<bounded_count>([&](store_reader& from) { return from.inspect().inbox_size(10); }),
        (bounded_count{0, false}));
}

}  // namespace
}  // namespace posthorn::conformance
