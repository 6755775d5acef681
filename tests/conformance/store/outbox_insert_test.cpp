// What goes into the outbox comes out of it, unchanged and in order.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;

void expect_same(const message& found, const message& stored) {
    EXPECT_EQ(found.id, stored.id);
    EXPECT_EQ(found.type, stored.type);
    EXPECT_EQ(found.source, stored.source);
    EXPECT_EQ(found.destination, stored.destination);
    EXPECT_EQ(found.endpoint, stored.endpoint);
    EXPECT_TRUE(found.payload == stored.payload);  // Too long to print.
    EXPECT_EQ(found.content_type, stored.content_type);
    EXPECT_EQ(found.headers, stored.headers);
    EXPECT_EQ(found.correlation_id, stored.correlation_id);
    EXPECT_EQ(found.tenant, stored.tenant);
    EXPECT_EQ(found.order_key, stored.order_key);
    EXPECT_EQ(found.dedupe_key, stored.dedupe_key);
    EXPECT_EQ(found.parent_id, stored.parent_id);
    EXPECT_EQ(found.causation_id, stored.causation_id);
    EXPECT_EQ(found.priority, stored.priority);
    EXPECT_EQ(found.max_retries, stored.max_retries);
    EXPECT_EQ(found.created_at, stored.created_at);
    EXPECT_EQ(found.expires_at, stored.expires_at);
    EXPECT_EQ(found.deliver_at, stored.deliver_at);
}

/// Every field set, and no two alike.
message full(uuid id, uuid parent, uuid cause) {
    const wall_time then{1'900'000'000'123ms};
    return {.id = id,
            .type = message_type::push_call,
            .source = "orders",
            .destination = "billing",
            .endpoint = "Charge",
            .payload = "{\"who\":\"Zoë 世界 \U0001F4EF\",\"line\":\"a\\nb\"}\n\t'\"",
            .content_type = "application/vnd.charge+json",
            .headers = R"({"trace":"00-4bf9"})",
            .correlation_id = "request 17/β",
            .tenant = "acme",
            .order_key = "o1",
            .dedupe_key = "charge-o1",
            .parent_id = parent,
            .causation_id = cause,
            .priority = 3,
            .max_retries = retry_for_ever,
            .created_at = then,
            .expires_at = then + 90min,
            .deliver_at = then + 1s};
}

TEST_P(store, every_field_is_read_back_as_it_was_stored) {
    listener heard;
    db().hand_to(&heard);
    const auto body = full(new_id(), new_id(), new_id());
    const auto seq = put(body);
    db().hand_to(nullptr);
    const auto found = look<std::optional<outbox_row>>(
        [&](store_reader& reader) { return reader.outbox().find(body.id); });
    const auto page = due("billing", *body.deliver_at);
    ASSERT_TRUE(found);
    ASSERT_EQ(page.rows.size(), 1U);
    ASSERT_EQ(heard.rows().size(), 1U);
    for (const auto& row : {*found, page.rows.front(), heard.rows().front()}) {
        EXPECT_EQ(row.seq, seq);
        EXPECT_EQ(row.attempts, 0);
        expect_same(row.body, body);
    }
}

TEST_P(store, every_type_of_message_is_read_back) {
    for (const auto type : {message_type::signal, message_type::command, message_type::push_call,
                            message_type::response}) {
        auto body = sample();
        body.type = type;
        put(body);
        const auto found = look<std::optional<outbox_row>>(
            [&](store_reader& reader) { return reader.outbox().find(body.id); });
        ASSERT_TRUE(found);
        EXPECT_EQ(found->body.type, type);
    }
}

TEST_P(store, empty_fields_stay_empty) {
    auto body = sample();
    body.payload.clear();
    body.content_type = "text/plain";
    put(body);
    const auto page = due("billing", noon);
    ASSERT_EQ(page.rows.size(), 1U);
    expect_same(page.rows.front().body, body);
}

TEST_P(store, a_payload_of_a_mebibyte_is_read_back) {
    auto body = sample();
    body.payload.clear();
    body.content_type = "text/plain";
    for (std::size_t i = 0; body.payload.size() < std::size_t{1} << 20; ++i)
        body.payload += fmt::format("{:07} ", i);
    put(body);
    const auto page = due("billing", noon);
    ASSERT_EQ(page.rows.size(), 1U);
    expect_same(page.rows.front().body, body);
}

TEST_P(store, seq_grows_with_each_message) {
    std::int64_t last = 0;
    for (int i = 0; i < 10; ++i) {
        const auto seq = put(sample());
        EXPECT_GT(seq, last);
        last = seq;
    }
}

TEST_P(store, a_unit_may_store_many_messages) {
    std::vector<std::int64_t> seqs;
    must([&](store_transaction& tx) -> result<> {
        seqs.clear();
        for (int i = 0; i < 20; ++i) {
            auto seq = tx.outbox().insert(sample());
            if (!seq) return std::unexpected(seq.error());
            seqs.push_back(seq->seq);
        }
        return {};
    });
    EXPECT_EQ(seqs.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(seqs));
    EXPECT_EQ(due("billing", noon).rows.size(), 20U);
}

TEST_P(store, a_repeated_id_is_a_duplicate_and_the_rest_of_the_group_commits) {
    make_tables();
    auto body = sample();
    put(body);
    auto other = body;
    other.payload = "another body";
    EXPECT_TRUE(refused_with(between_good_ones(enqueue(other)), error_code::duplicate_id));
    ASSERT_EQ(due("billing", noon).rows.size(), 1U);
    EXPECT_EQ(due("billing", noon).rows.front().body.payload, body.payload);
}

TEST_P(store, an_id_repeated_inside_one_group_is_a_duplicate) {
    const auto body = sample();
    std::vector<work> group;
    group.push_back(enqueue(body));
    group.push_back(enqueue(body));
    const auto outcomes = run_all(std::move(group));
    EXPECT_TRUE(succeeded(outcomes[0]));
    EXPECT_TRUE(refused_with(outcomes[1], error_code::duplicate_id));
}

TEST_P(store, a_unit_may_go_on_after_a_duplicate) {
    const auto body = sample();
    const auto next = sample();
    put(body);
    must([&](store_transaction& tx) -> result<> {
        EXPECT_TRUE(refused_with(tx.outbox().insert(body), error_code::duplicate_id));
        POSTHORN_TRY(tx.outbox().insert(next));
        return {};
    });
    EXPECT_EQ(status(next.id), outbox_status::pending);
}

TEST_P(store, an_id_stays_a_duplicate_once_the_message_is_sent) {
    const auto body = sample();
    const auto seq = put(body);
    ASSERT_EQ(settle({{.seq = seq, .to = outbox_status::sent, .at = noon}}, dispatch()), 1);
    EXPECT_TRUE(refused_with(run(enqueue(body)), error_code::duplicate_id));
}

TEST_P(store, the_listener_hears_of_committed_messages_in_their_order) {
    listener heard;
    db().hand_to(&heard);
    std::vector<uuid> ids;
    std::vector<work> group;
    for (int i = 0; i < 5; ++i) {
        auto body = sample();
        if (i != 2) {
            ids.push_back(body.id);
            group.push_back(enqueue(std::move(body)));
            continue;
        }
        group.push_back([body](store_transaction& tx) -> result<> {
            POSTHORN_TRY(tx.outbox().insert(body));
            return fail(error_code::no_handler, "never mind");
        });
    }
    run_all(std::move(group));
    const auto rows = heard.rows();
    ASSERT_EQ(rows.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i].body.id, ids[i]);
    EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &outbox_row::seq));
    const auto page = due("billing", noon);
    ASSERT_EQ(page.rows.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(page.rows[i].seq, rows[i].seq);
    db().hand_to(nullptr);
}

TEST_P(store, the_listener_hears_before_the_unit_is_answered) {
    listener heard;
    db().hand_to(&heard);
    answers arrived;
    std::size_t at_answer = 0;
    db().submit(
        {.work = enqueue(sample()), .done = [&, done = arrived.to(0)](result<> value) mutable {
             at_answer = heard.rows().size();
             done(std::move(value));
         }});
    arrived.wait_for(1);
    EXPECT_EQ(at_answer, 1U);
    db().hand_to(nullptr);
}

TEST_P(store, the_listener_hears_nothing_of_units_without_messages) {
    listener heard;
    db().hand_to(&heard);
    must("CREATE TABLE t(n INTEGER)");
    must("INSERT INTO t VALUES (1)");
    EXPECT_EQ(heard.rows().size(), 0U);
    db().hand_to(nullptr);
}

TEST_P(store, a_listener_that_was_taken_off_hears_no_more) {
    listener heard;
    db().hand_to(&heard);
    put(sample());
    db().hand_to(nullptr);
    put(sample());
    EXPECT_EQ(heard.rows().size(), 1U);
}

TEST_P(store, a_message_that_was_never_stored_is_not_found) {
    EXPECT_FALSE(look<std::optional<outbox_row>>(
        [&](store_reader& reader) { return reader.outbox().find(new_id()); }));
    EXPECT_EQ(status(new_id()), std::nullopt);
}

}  // namespace
}  // namespace posthorn::conformance
