// The outbox under the names of the webhook document, for those who read it with plain SQL.
#include "conformance/store/suite.hpp"

namespace posthorn::conformance {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using row = foreign_connection::row;

constexpr auto an_id = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001";

TEST_P(store, its_view_of_messages_has_every_column_of_the_webhook_document) {
    db();
    const auto other = disk().connect();
    ASSERT_EQ(
        other->run("INSERT INTO outbox_messages (message_id, destination, endpoint, payload,"
                   " correlation_id, headers, tenant, order_key, retry_count, next_retry_at,"
                   " last_error, created_at) VALUES ('0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001',"
                   " 'billing', 'order.placed', '{\"a\":1}', 'c-1', '{\"traceparent\":"
                   "\"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\","
                   "\"user-id\":\"u-1\"}', 't-1', 'o-1', 2, 1771070400123, 'no', 1771070400000)"),
        std::nullopt);
    EXPECT_THAT(
        other->rows("SELECT \"Id\", \"EventType\", \"Payload\", \"CorrelationId\", \"TraceId\","
                    " \"Status\", \"RetryCount\", \"LastError\", \"TenantId\", \"UserId\","
                    " \"EntityId\", \"LockedUntil\", \"LockedBy\", \"ProcessedAt\""
                    " FROM \"OutboxMessages\""),
        ElementsAre(row{an_id, "order.placed", "{\"a\":1}", "c-1",
                        "4bf92f3577b34da6a3ce929d0e0e4736", "0", "2", "no", "t-1", "u-1", "o-1",
                        std::nullopt, std::nullopt, std::nullopt}));
    EXPECT_THAT(other->rows("SELECT \"Headers\" FROM \"OutboxMessages\""),
                ElementsAre(ElementsAre(text("SELECT headers FROM outbox_messages"))));
    const auto times =
        other->rows("SELECT \"CreatedAt\", \"NextRetryAt\" FROM \"OutboxMessages\"").at(0);
    EXPECT_THAT(times.at(0).value_or(""), ::testing::ContainsRegex("^2026-02-14.12:00:00"));
    EXPECT_THAT(times.at(1).value_or(""), ::testing::ContainsRegex("^2026-02-14.12:00:00.123"));
}

TEST_P(store, its_view_of_messages_has_the_status_numbers_of_the_webhook_document) {
    db();
    const auto other = disk().connect();
    for (const std::string status : {"Pending", "Sent", "Dead", "Expired", "Resolved"})
        ASSERT_EQ(other->run("INSERT INTO outbox_messages (destination, endpoint, payload, status)"
                             " VALUES ('billing', '" +
                             status + "', '{}', '" + status + "')"),
                  std::nullopt);
    EXPECT_THAT(
        other->rows("SELECT \"EventType\", \"Status\" FROM \"OutboxMessages\" ORDER BY 2, 1"),
        ElementsAre(row{"Pending", "0"}, row{"Sent", "3"}, row{"Expired", "4"},
                    row{"Resolved", "4"}, row{"Dead", "5"}));
}

TEST_P(store, its_view_of_attempts_has_the_failed_ones_and_the_one_that_succeeded) {
    const auto epoch = dispatch();
    const auto sent = put(sample());
    const auto dead = put(sample());
    const auto waits = put(sample());
    const auto fail = [&](std::int64_t seq, outbox_status to) {
        settlement outcome{.seq = seq, .to = to, .at = noon, .charged = true, .error = "no"};
        outcome.next_attempt_at = noon + 2s;
        ASSERT_TRUE(succeeded(settle({outcome}, epoch)));
    };
    for (const auto seq : {sent, dead, waits}) fail(seq, outbox_status::pending);
    fail(dead, outbox_status::dead);
    ASSERT_TRUE(
        succeeded(settle({{.seq = sent, .to = outbox_status::sent, .at = noon + 3s}}, epoch)));
    const auto of = [&](std::int64_t seq) {
        return disk().connect()->rows(
            "SELECT \"AttemptNumber\", a.\"Status\", \"ErrorMessage\", \"HttpStatusCode\","
            " CASE WHEN a.\"NextRetryAt\" IS NULL THEN 'no' ELSE 'yes' END"
            " FROM \"DeliveryAttempts\" AS a JOIN outbox_messages AS m"
            " ON m.message_id = a.\"OutboxMessageId\" WHERE m.seq = " +
            std::to_string(seq) + " ORDER BY 1");
    };
    const auto none = std::nullopt;
    EXPECT_THAT(of(sent),
                ElementsAre(row{"1", "2", "no", none, "no"}, row{"2", "1", none, none, "no"}));
    EXPECT_THAT(of(dead),
                ElementsAre(row{"1", "2", "no", none, "no"}, row{"2", "3", "no", none, "no"}));
    EXPECT_THAT(of(waits), ElementsAre(row{"1", "2", "no", none, "yes"}));
    EXPECT_EQ(number("SELECT count(DISTINCT \"Id\") FROM \"DeliveryAttempts\""), 5);
    EXPECT_EQ(number("SELECT count(*) FROM \"DeliveryAttempts\" WHERE \"AttemptedAt\" IS NULL"
                     " OR \"WebhookSubscriptionId\" IS NOT NULL OR \"ResponseBody\" IS NOT NULL"
                     " OR \"DurationMs\" IS NOT NULL"),
              0);
}

TEST_P(store, a_row_of_nonsense_leaves_its_views_readable) {
    db();
    const auto other = disk().connect();
    ASSERT_EQ(other->run("INSERT INTO outbox_messages (destination, endpoint, payload, headers,"
                         " created_at, expires_at, next_retry_at) VALUES ('billing', 'Charge',"
                         " '{}', 'no JSON', 9223372036854775807, 9223372036854775807,"
                         " -9223372036854775807), ('billing', 'Charge', '{}',"
                         " '{\"traceparent\":\"00-XYZ-1-01\",\"user-id\":{}}', 1, 1, 1)"),
              std::nullopt);
    EXPECT_THAT(other->rows("SELECT \"TraceId\", \"CreatedAt\", \"NextRetryAt\" FROM"
                            " \"OutboxMessages\" WHERE \"Headers\" = 'no JSON'"),
                ElementsAre(row{std::nullopt, std::nullopt, std::nullopt}));
    EXPECT_EQ(number("SELECT count(*) FROM \"OutboxMessages\" WHERE \"TraceId\" IS NULL"), 2);
    EXPECT_THAT(other->rows("SELECT created_at, expires_at FROM posthorn_outbox ORDER BY seq"),
                ElementsAre(row{std::nullopt, std::nullopt},
                            row{"1970-01-01T00:00:00.001Z", "1970-01-01T00:00:00.001Z"}));
}

TEST_P(store, its_views_of_the_webhook_document_take_no_writes) {
    put(sample());
    const auto other = disk().connect();
    for (const auto* write :
         {"DELETE FROM \"OutboxMessages\"", "UPDATE \"OutboxMessages\" SET \"EventType\" = 'x'",
          "INSERT INTO \"OutboxMessages\" (\"EventType\", \"Payload\") VALUES ('x', '{}')",
          "DELETE FROM \"DeliveryAttempts\""})
        EXPECT_NE(other->run(write), std::nullopt) << write;
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 1);
}

}  // namespace
}  // namespace posthorn::conformance
