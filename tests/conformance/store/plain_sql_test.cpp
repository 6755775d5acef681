// Messages that any program inserts with plain SQL, good ones and bad ones.
#include <set>

#include "conformance/store/suite.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto plain =
    "INSERT INTO outbox_messages(destination, endpoint, payload) "
    "VALUES ('billing', 'Charge', '{\"order\":\"o1\"}')";

/// An insert that also sets one column.
std::string plain_with(const std::string& column, const std::string& value) {
    return fmt::format(
        "INSERT INTO outbox_messages(destination, endpoint, payload, {}) "
        "VALUES ('billing', 'Charge', '{{}}', {})",
        column, value);
}

TEST_P(store, a_plain_insert_is_a_due_message_with_sensible_defaults) {
    db();
    const auto before = disk().now();
    ASSERT_EQ(disk().connect()->run(plain), std::nullopt);
    const auto after = disk().now();
    const auto page = due("billing", after);
    EXPECT_THAT(page.bad, IsEmpty());
    ASSERT_THAT(page.rows, SizeIs(1));
    const auto& body = page.rows.front().body;
    EXPECT_EQ(body.source, "orders");
    EXPECT_EQ(body.destination, "billing");
    EXPECT_EQ(body.endpoint, "Charge");
    EXPECT_EQ(body.payload, R"({"order":"o1"})");
    EXPECT_EQ(body.type, message_type::signal);
    EXPECT_EQ(body.content_type, "application/json");
    EXPECT_EQ(body.max_retries, 5);
    EXPECT_EQ(body.priority, 0);
    EXPECT_EQ(body.headers + body.correlation_id + body.tenant + body.order_key + body.dedupe_key,
              "");
    EXPECT_EQ(body.parent_id, std::nullopt);
    EXPECT_EQ(body.causation_id, std::nullopt);
    EXPECT_EQ(body.deliver_at, std::nullopt);
    EXPECT_EQ(page.rows.front().attempts, 0);
    EXPECT_GE(body.created_at, before);
    EXPECT_LE(body.created_at, after);
    EXPECT_EQ(body.expires_at, body.created_at + 24h);
    EXPECT_EQ(status(body.id), outbox_status::pending);
}

TEST_P(store, a_plain_insert_takes_the_defaults_that_the_store_was_opened_with) {
    const auto inserted = [&](std::string_view columns, std::string_view more) {
        const auto other = disk().connect();
        const auto refused = other->run(
            fmt::format("INSERT INTO outbox_messages (destination, endpoint, payload{}) VALUES "
                        "('billing', 'Charge', '1'{})",
                        columns, more));
        EXPECT_EQ(refused, std::nullopt);
        return other->text(
            "SELECT max_retries || ' ' || (expires_at - created_at) FROM outbox_messages "
            "ORDER BY seq DESC LIMIT 1");
    };
    const auto open_with = [&](const row_defaults& wanted) {
        auto opened = disk().open({.defaults = wanted});
        ASSERT_TRUE(succeeded(opened));
        (*opened)->stop();
    };
    open_with({.max_retries = 50, .expires_in = 24h * 30});
    EXPECT_EQ(inserted("", ""), "50 2592000000");
    EXPECT_EQ(inserted(", max_retries", ", 5"), "5 2592000000") << "what is said, holds";
    open_with({.max_retries = -1, .expires_in = 1s});
    EXPECT_EQ(inserted("", ""), "-1 1000");
    reopen();  // As a command does, which says nothing of them.
    EXPECT_EQ(inserted("", ""), "-1 1000");
    close();
    open_with({});
    EXPECT_EQ(inserted("", ""), "5 86400000");
    EXPECT_TRUE(succeeded(db().check_integrity()));
}

TEST_P(store, a_plain_insert_gets_an_id_of_version_7) {
    db();
    const auto other = disk().connect();
    const auto before = disk().now();
    ASSERT_EQ(other->run("BEGIN"), std::nullopt);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(other->run(plain), std::nullopt);
    ASSERT_EQ(other->run("COMMIT"), std::nullopt);
    const auto after = disk().now();
    const auto page = due("billing", after, 1000);
    ASSERT_THAT(page.rows, SizeIs(200));
    std::set<uuid> ids;
    for (const auto& row : page.rows) {
        const auto& id = row.body.id;
        EXPECT_EQ(id.version(), 7);
        EXPECT_EQ(id.bytes()[8] >> 6, 2);  // The variant of RFC 9562.
        ASSERT_TRUE(id.time());
        EXPECT_GE(*id.time(), before);
        EXPECT_LE(*id.time(), after);
        ids.insert(id);
    }
    EXPECT_THAT(ids, SizeIs(200));
}

TEST_P(store, a_plain_insert_in_a_transaction_that_rolls_back_is_no_message) {
    db();
    const auto other = disk().connect();
    ASSERT_EQ(other->run("BEGIN"), std::nullopt);
    ASSERT_EQ(other->run(plain), std::nullopt);
    ASSERT_EQ(other->run("ROLLBACK"), std::nullopt);
    EXPECT_THAT(due("billing", noon).rows, IsEmpty());
}

TEST_P(store, a_plain_insert_may_set_every_field) {
    db();
    const auto parent = new_id();
    ASSERT_EQ(disk().connect()->run(fmt::format(
                  "INSERT INTO outbox_messages(message_id, message_type, destination, endpoint,"
                  " payload, content_type, headers, correlation_id, tenant, order_key, dedupe_key,"
                  " parent_id, causation_id, priority, max_retries, created_at, expires_at)"
                  " VALUES ('018f3b1c-0000-7000-8000-000000000001', 'Command', 'billing',"
                  " 'Charge', 'paid', 'text/plain', '{{\"a\":\"b\"}}', 'c', 't', 'k', 'd',"
                  " '{0}', '{0}', 4, -1, 1000, 1900000000000)",
                  parent.to_string())),
              std::nullopt);
    const auto page = due("billing", noon - 1ms);
    EXPECT_THAT(page.bad, IsEmpty());
    ASSERT_THAT(page.rows, SizeIs(1));
    const auto& body = page.rows.front().body;
    EXPECT_EQ(body.id.to_string(), "018f3b1c-0000-7000-8000-000000000001");
    EXPECT_EQ(body.type, message_type::command);
    EXPECT_EQ(body.content_type, "text/plain");
    EXPECT_EQ(body.headers, R"({"a":"b"})");
    EXPECT_EQ(body.correlation_id, "c");
    EXPECT_EQ(body.tenant, "t");
    EXPECT_EQ(body.order_key, "k");
    EXPECT_EQ(body.dedupe_key, "d");
    EXPECT_EQ(body.parent_id, parent);
    EXPECT_EQ(body.causation_id, parent);
    EXPECT_EQ(body.priority, 4);
    EXPECT_EQ(body.max_retries, retry_for_ever);
    EXPECT_EQ(body.created_at, wall_time{1s});
    EXPECT_EQ(body.expires_at, noon);
}

TEST_P(store, a_plain_insert_that_says_when_to_deliver_is_not_due_before) {
    db();
    ASSERT_EQ(disk().connect()->run(
                  "INSERT INTO outbox_messages(destination, endpoint, payload, expires_at, "
                  "deliver_at) VALUES ('billing', 'Charge', '{}', 2000000000000, 1900000000000)"),
              std::nullopt);
    EXPECT_THAT(due("billing", noon - 1ms).rows, IsEmpty());
    ASSERT_THAT(due("billing", noon).rows, SizeIs(1));
    EXPECT_EQ(due("billing", noon).rows.front().body.deliver_at, noon);
}

TEST_P(store, a_plain_insert_that_is_due_after_it_expires_is_found_when_it_expires) {
    db();
    const auto other = disk().connect();
    const auto insert = [&](const std::string& column, const std::string& value) {
        return other->run(fmt::format(
            "INSERT INTO outbox_messages(destination, endpoint, payload, expires_at, {}) "
            "VALUES ('billing', 'Charge', '{{}}', {}, {})",
            column, to_ms(noon), value));
    };
    EXPECT_EQ(insert("next_retry_at", "9223372036854775807"), std::nullopt);
    EXPECT_EQ(insert("deliver_at", "9000000000000000000"), std::nullopt);
    EXPECT_THAT(due("billing", noon - 1ms).rows, IsEmpty());
    EXPECT_THAT(due("billing", noon).rows, SizeIs(2));
    EXPECT_EQ(other->run("UPDATE outbox_messages SET next_retry_at = 9000000000000000000"),
              std::nullopt);
    EXPECT_THAT(due("billing", noon - 1ms).rows, IsEmpty());
    EXPECT_THAT(due("billing", noon).rows, SizeIs(2));
    EXPECT_EQ(
        other->run(fmt::format("UPDATE outbox_messages SET expires_at = {}", to_ms(noon - 1h))),
        std::nullopt);
    EXPECT_THAT(due("billing", noon - 1h).rows, SizeIs(2));
}

TEST_P(store, a_plain_insert_inside_a_unit_is_a_message_too) {
    must(plain);
    EXPECT_THAT(due("billing", disk().now()).rows, SizeIs(1));
}

TEST_P(store, a_message_of_a_plain_insert_is_settled_like_any_other) {
    db();
    ASSERT_EQ(disk().connect()->run(plain), std::nullopt);
    const auto page = due("billing", disk().now());
    ASSERT_THAT(page.rows, SizeIs(1));
    EXPECT_EQ(settle({{.seq = page.rows.front().seq, .at = noon}}, dispatch()), 1);
    EXPECT_EQ(status(page.rows.front().body.id), outbox_status::sent);
}

TEST_P(store, the_id_of_a_plain_insert_is_found_in_whichever_case_it_was_written) {
    db();
    ASSERT_EQ(
        disk().connect()->run(plain_with("message_id", "'018F3B1C-ABCD-7000-8000-00000000ABCD'")),
        std::nullopt);
    const auto page = due("billing", disk().now());
    ASSERT_THAT(page.rows, SizeIs(1));
    EXPECT_EQ(status(page.rows.front().body.id), outbox_status::pending);
    auto again = sample();
    again.id = page.rows.front().body.id;
    EXPECT_TRUE(refused_with(run(enqueue(again)), error_code::duplicate_id));
}

TEST_P(store, a_time_that_is_text_or_a_fraction_is_refused_by_the_database) {
    db();
    const auto other = disk().connect();
    for (const auto* column : {"created_at", "expires_at", "next_retry_at", "last_attempt_at",
                               "sent_at", "deliver_at"}) {
        for (const std::string value :
             {"'2026-02-14T12:00:00Z'", "'soon'", "''", "1900000000000.5"}) {
            if (value.ends_with(".5") && !disk().speaks().refuses_fractions) continue;
            EXPECT_NE(other->run(plain_with(column, value)), std::nullopt) << column << value;
        }
    }
    EXPECT_EQ(other->number("SELECT count(*) FROM outbox_messages"), 0);
}

TEST_P(store, bytes_in_place_of_text_are_refused_by_the_database) {
    db();
    if (!disk().speaks().refuses_bytes_as_text) return;  // They are text by then.
    const auto other = disk().connect();
    for (const auto* column :
         {"message_id", "message_type", "correlation_id", "headers", "parent_id", "causation_id",
          "tenant", "order_key", "dedupe_key", "content_type"}) {
        const auto refused = other->run(plain_with(column, "x'7b7d'"));
        ASSERT_TRUE(refused) << column;
        EXPECT_THAT(*refused, HasSubstr(column));
    }
    for (const auto* names : {"x'72', 'Charge'", "'billing', x'72'"}) {
        EXPECT_NE(other->run(fmt::format("INSERT INTO outbox_messages(destination, endpoint,"
                                         " payload) VALUES ({}, '{{}}')",
                                         names)),
                  std::nullopt)
            << names;
    }
    EXPECT_EQ(other->number("SELECT count(*) FROM outbox_messages"), 0);
}

TEST_P(store, a_payload_of_bytes_is_carried_to_the_byte) {
    db();
    const auto& speaks = disk().speaks();
    ASSERT_EQ(disk().connect()->run(fmt::format(
                  "INSERT INTO outbox_messages(destination, endpoint, {}, content_type) "
                  "VALUES ('billing', 'Scan', {}, 'image/png')",
                  speaks.payload_of_bytes, fmt::format(fmt::runtime(speaks.bytes), "00ff00"))),
              std::nullopt);
    const auto page = due("billing", noon);
    EXPECT_THAT(page.bad, IsEmpty());
    ASSERT_THAT(page.rows, SizeIs(1));
    EXPECT_EQ(page.rows.front().body.payload, std::string("\0\xff\0", 3));
}

TEST_P(store, a_number_after_which_there_is_none_is_refused_by_the_database) {
    db();
    const auto other = disk().connect();
    for (const auto* seq : {"9223372036854775807", "4611686018427387904", "0", "-1"})
        EXPECT_NE(other->run(plain_with("seq", seq)), std::nullopt) << seq;
    EXPECT_GT(put(sample()), 0);
}

TEST_P(store, a_status_that_does_not_exist_is_refused_by_the_database) {
    db();
    EXPECT_NE(disk().connect()->run(plain_with("status", "'Sending'")), std::nullopt);
}

TEST_P(store, an_update_that_breaks_a_rule_is_refused_by_the_database) {
    db();
    const auto other = disk().connect();
    ASSERT_EQ(other->run(plain), std::nullopt);
    for (const auto* change : {"status = 'Sending'", "expires_at = 0", "payload = NULL",
                               "status = 'Sent', expires_at = 0", "status = 'Sent', payload = NULL",
                               "status = 'Dead', expires_at = -1"})
        EXPECT_NE(other->run(fmt::format("UPDATE outbox_messages SET {}", change)), std::nullopt)
            << change;
    EXPECT_THAT(due("billing", noon).rows, SizeIs(1));
}

TEST_P(store, a_message_that_expires_at_no_time_is_refused_by_the_database) {
    db();
    const auto other = disk().connect();
    for (const auto* never : {"0", "-1"})
        EXPECT_NE(other->run(plain_with("expires_at", never)), std::nullopt) << never;
}

TEST_P(store, a_repeated_dedupe_key_is_not_refused_by_the_database) {
    db();
    const auto other = disk().connect();
    EXPECT_EQ(other->run(plain_with("dedupe_key", "'once'")), std::nullopt);
    EXPECT_EQ(other->run(plain_with("dedupe_key", "'once'")), std::nullopt);
}

struct bad_insert {
    std::string sql;
    std::string destination;
    std::string reason;  // Part of it.
};

const std::vector<bad_insert>& bad_inserts() {
    static const std::vector<bad_insert> all{
        {plain_with("message_type", "'Shout'"), "billing", "Shout"},
        {plain_with("message_type", "''"), "billing", "message_type"},
        {plain_with("message_id", "'not-a-uuid'"), "billing", "not-a-uuid"},
        {plain_with("message_id", "''"), "billing", "message_id"},
        {plain_with("parent_id", "'the boss'"), "billing", "the boss"},
        {plain_with("causation_id", "'because'"), "billing", "because"},
        // Numbers that no counter of ours can hold, or that none should.
        {plain_with("retry_count", "-1"), "billing", "retry_count"},
        {plain_with("retry_count", "-2147483648"), "billing", "retry_count"},
        {plain_with("retry_count", "4294967295"), "billing", "retry_count"},
        {plain_with("retry_count", "9223372036854775807"), "billing", "retry_count"},
        {plain_with("max_retries", "-2"), "billing", "max_retries"},
        {plain_with("max_retries", "4294967296"), "billing", "max_retries"},
        {plain_with("priority", "4294967297"), "billing", "priority"},
        {plain_with("priority", "-9223372036854775808"), "billing", "priority"},
        {"INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('', 'Charge', '')",
         "", "destination"},
        {"INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('billing', '', '')",
         "billing", "endpoint"},
    };
    return all;
}

TEST_P(store, a_bad_row_is_given_with_its_reason_and_hides_no_other) {
    db();
    const auto other = disk().connect();
    for (const auto& bad : bad_inserts()) {
        SCOPED_TRACE(bad.sql);
        const auto before = due(bad.destination, noon).rows.size();
        ASSERT_EQ(other->run(plain), std::nullopt);
        if (other->run(bad.sql)) continue;  // Refused at once is even better.
        ASSERT_EQ(other->run(plain), std::nullopt);
        const auto page = due(bad.destination, noon);
        EXPECT_EQ(page.rows.size(), before + (bad.destination == "billing" ? 2 : 0));
        ASSERT_THAT(page.bad, SizeIs(1));
        EXPECT_THAT(page.bad.front().reason, HasSubstr(bad.reason));
        EXPECT_THAT(page.bad.front().reason, ::testing::StartsWith("invalid_argument: "));
        EXPECT_EQ(settle({{.seq = page.bad.front().seq,
                           .to = outbox_status::dead,
                           .at = noon,
                           .error = page.bad.front().reason}},
                         dispatch()),
                  1);
        EXPECT_THAT(due(bad.destination, noon).bad, IsEmpty());
        EXPECT_EQ(other->number("SELECT count(*) FROM outbox_messages WHERE status = 'Dead' "
                                "AND last_error IS NOT NULL"),
                  1);
        ASSERT_EQ(other->run("DELETE FROM outbox_messages WHERE status = 'Dead'"), std::nullopt);
    }
}

TEST_P(store, a_destination_with_bad_rows_only_is_due_so_that_they_get_buried) {
    db();
    ASSERT_EQ(disk().connect()->run(plain_with("message_type", "'Shout'")), std::nullopt);
    const auto found = look<std::vector<std::string>>(
        [&](store_reader& reader) { return reader.outbox().due_destinations(noon); });
    EXPECT_THAT(found, ::testing::ElementsAre("billing"));
}

TEST_P(store, a_number_that_is_none_is_refused_or_given_as_bad) {
    db();
    const auto other = disk().connect();
    for (const auto* column : {"max_retries", "priority", "retry_count"}) {
        SCOPED_TRACE(column);
        if (other->run(plain_with(column, "'many'"))) continue;
        EXPECT_EQ(due("billing", noon).rows.size(), 0U);
        EXPECT_THAT(due("billing", noon).bad, SizeIs(1));
        ASSERT_EQ(other->run("DELETE FROM outbox_messages"), std::nullopt);
    }
}

TEST_P(store, an_insert_without_a_destination_is_refused_by_the_database) {
    db();
    const auto other = disk().connect();
    EXPECT_NE(other->run("INSERT INTO outbox_messages(endpoint, payload) VALUES ('Charge', '')"),
              std::nullopt);
    EXPECT_NE(other->run("INSERT INTO outbox_messages(destination, payload) VALUES ('b', '')"),
              std::nullopt);
    EXPECT_NE(other->run("INSERT INTO outbox_messages(destination, endpoint) VALUES ('b', 'c')"),
              std::nullopt);
}

}  // namespace
}  // namespace posthorn::conformance
