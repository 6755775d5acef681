// Messages that come as rows, from producers with plain SQL.
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/node.hpp"
#include "store/claim_table.hpp"

namespace posthorn::conformance {
namespace {

using test::postgres_client;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class postgres_arrivals : public on_postgres {
protected:
    std::vector<std::int64_t> take_in_and_claim(a_store& node) {
        take_in(node);
        return claim(node);
    }
    /// With a key, of the message of an id that is always the same.
    std::string insert_again(const std::string& key) {
        return fmt::format(
            "INSERT INTO outbox_messages (message_id, destination, endpoint, payload, order_key)"
            " VALUES ('01a1e5a5-8a6f-7138-a511-c800fdd769b9', 'billing', 'Charge', '{{}}', {})"
            " ON CONFLICT DO NOTHING",
            key);
    }
};

TEST_F(postgres_arrivals, a_producer_needs_no_right_but_to_insert) {
    a_store node(place_);
    postgres_client admin;
    const auto role = "role_" + place_.schema();
    ASSERT_EQ(admin.run("CREATE ROLE " + role +
                        " LOGIN PASSWORD 'p';"
                        "GRANT USAGE ON SCHEMA " +
                        place_.schema() + " TO " + role + ";GRANT INSERT ON " + place_.schema() +
                        ".outbox_messages TO " + role),
              std::nullopt);
    auto url = test::postgres_url();
    url.replace(url.find("posthorn:posthorn@"), 18, role + ":p@");
    {
        postgres_client producer(url);
        EXPECT_EQ(
            producer.run("INSERT INTO " + place_.schema() +
                         ".outbox_messages (destination, endpoint, payload, order_key, dedupe_key)"
                         " VALUES ('billing', 'Charge', '{}', 'k', 'd')"),
            std::nullopt);
        EXPECT_NE(producer.run("SELECT * FROM " + place_.schema() + ".outbox_due"), std::nullopt);
        // Nor can it make them its own, with rows, and types with casts, of its own.
        ASSERT_EQ(producer.run("CREATE TEMP TABLE mine (seq bigint, status text, message_id text)"),
                  std::nullopt);
        for (const auto* function : {"outbox_arrival", "outbox_changed", "outbox_gone",
                                     "outbox_unseal", "cause_counted", "due_row_came"})
            EXPECT_THAT(producer
                            .run(fmt::format("CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW"
                                             " EXECUTE FUNCTION {}.{}()",
                                             place_.schema(), function))
                            .value_or(""),
                        HasSubstr("permission denied for function"))
                << function;
    }
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due"), 1);
    admin.run("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(postgres_arrivals, a_row_that_breaks_a_rule_is_refused_with_the_rule) {
    a_store node(place_);
    postgres_client producer(place_.url());
    const auto insert = [&](const std::string& columns, const std::string& values) {
        return producer
            .run("INSERT INTO outbox_messages (destination, endpoint, " + columns +
                 ") OVERRIDING SYSTEM VALUE VALUES ('billing', 'Charge', " + values + ")")
            .value_or("");
    };
    EXPECT_THAT(insert("message_id", "DEFAULT"), HasSubstr("needs a payload"));
    EXPECT_THAT(insert("payload, status", "'{}', 'Sending'"),
                HasSubstr("Dead, Expired or Resolved"));
    EXPECT_THAT(insert("payload, expires_at", "'{}', 0"), HasSubstr("expires_at must be"));
    EXPECT_THAT(insert("payload, seq", "'{}', -1"), HasSubstr("leave it out"));
    EXPECT_THAT(insert("payload, seq, order_key", "'{}', 4611686018427387904, 'k'"),
                HasSubstr("leave it out"));
    EXPECT_THAT(insert("payload, priority", "'{}', NULL"), HasSubstr("outbox_messages"));
    EXPECT_THAT(insert("payload, order_key, next_retry_at", "'{}', 'k', NULL"),
                HasSubstr("outbox_messages"));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_messages"), 0);
    EXPECT_EQ(insert("payload_bytes", "'\\x00'"), "");
    EXPECT_EQ(number("SELECT count(*) FROM outbox_pending"), 1);
}

TEST_F(postgres_arrivals, the_numbers_of_an_order_key_are_in_the_order_of_its_commits) {
    a_store node(place_);
    constexpr int producers = 4;
    constexpr int each = 25;
    std::atomic<int> failures = 0;
    ASSERT_EQ(postgres_client(place_.url())
                  .run("CREATE TABLE taken (n bigint GENERATED ALWAYS AS IDENTITY, seq bigint)"),
              std::nullopt);
    {
        std::vector<std::jthread> threads;
        for (int p = 0; p < producers; ++p)
            threads.emplace_back([&] {
                postgres_client producer(place_.url());
                for (int i = 0; i < each; ++i)
                    // The second row is numbered while the key is held: in the order of commits.
                    failures +=
                        producer
                            .run(
                                "WITH m AS (INSERT INTO outbox_messages (destination, endpoint, "
                                "payload,"
                                " order_key) VALUES ('billing', 'Charge', '{}', 'k') RETURNING seq)"
                                " INSERT INTO taken (seq) SELECT seq FROM m")
                            .has_value();
            });
    }
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(number("SELECT count(*) FROM taken"), producers * each);
    EXPECT_EQ(number("SELECT count(*) FROM (SELECT seq, lag(seq) OVER (ORDER BY n) AS before FROM "
                     "taken) AS t"
                     " WHERE seq < before"),
              0);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at < expires_at"), 1);
}

TEST_F(postgres_arrivals, a_message_without_an_id_gets_one_of_its_time) {
    const a_store node(place_);
    postgres_client producer(place_.url());
    ASSERT_EQ(producer.run("INSERT INTO outbox_messages (destination, endpoint, payload)"
                           " SELECT 'billing', 'Charge', '{}' FROM generate_series(1, 500)"),
              std::nullopt);
    const auto rows = producer.rows("SELECT message_id, created_at FROM outbox_messages");
    ASSERT_EQ(rows.size(), 500);
    for (const auto& row : rows) {
        const auto id = uuid::parse(row.at(0).value_or(""));
        ASSERT_TRUE(id.has_value());
        EXPECT_EQ(id->to_string(), row.at(0)) << "as Posthorn writes it";
        EXPECT_THAT(row.at(0).value_or(""),
                    MatchesRegex("........-....-7...-[89ab]...-............"));
        const auto digits = row.at(0)->substr(0, 8) + row.at(0)->substr(9, 4);
        const auto made = std::stoll(digits, nullptr, 16);
        const auto began = std::stoll(row.at(1).value_or("0"));
        EXPECT_THAT(made - began, ::testing::AllOf(::testing::Ge(-1), ::testing::Lt(60'000)));
    }
}

TEST_F(postgres_arrivals, ids_of_sessions_with_the_same_seed_differ) {
    const a_store node(place_);
    constexpr int sessions = 3;
    for (int i = 0; i < sessions; ++i)
        ASSERT_EQ(postgres_client(place_.url())
                      .run("SELECT setseed(0.5); INSERT INTO outbox_messages (destination,"
                           " endpoint, payload) SELECT 'billing', 'Charge', '{}'"
                           " FROM generate_series(1, 100)"),
                  std::nullopt);
    // Without the time, which differs here and need not.
    EXPECT_EQ(number("SELECT count(DISTINCT substr(message_id, 20)) FROM outbox_messages"),
              sessions * 100);
    EXPECT_EQ(number("SELECT count(DISTINCT left(translate(substr(message_id, 20), '-', ''), 8))"
                     " FROM outbox_messages"),
              100)
        << "or they were not of the same seed";
}

TEST_F(postgres_arrivals, a_message_that_is_there_already_leaves_nothing_to_be_sent) {
    a_store node(place_);
    dispatch_from(node);
    postgres_client producer(place_.url());
    ASSERT_EQ(producer.run(insert_again("NULL")), std::nullopt);
    EXPECT_THAT(take_in_and_claim(node), ElementsAre(1));
    ASSERT_EQ(producer.run(insert_again("NULL")), std::nullopt);
    EXPECT_TRUE(succeeded(node.get().check_integrity()));
    EXPECT_THAT(take_in_and_claim(node), ElementsAre(1));
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due"), 1);
}

TEST_F(postgres_arrivals, a_message_of_an_order_key_that_is_there_already_is_in_nobodys_way) {
    a_store node(place_);
    dispatch_from(node);
    postgres_client producer(place_.url());
    for (int i = 0; i < 2; ++i) ASSERT_EQ(producer.run(insert_again("'k'")), std::nullopt);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due"), 1);
    settle_first(1, node);
    ASSERT_EQ(producer.run(insert_again("'k'")), std::nullopt);
    ASSERT_EQ(producer.run("INSERT INTO outbox_messages (destination, endpoint, payload, order_key)"
                           " VALUES ('billing', 'Charge', '{}', 'k')"),
              std::nullopt);
    EXPECT_EQ(number("SELECT count(*) FROM outbox_due WHERE next_retry_at = 0"), 1);
}

}  // namespace
}  // namespace posthorn::conformance
