#include "unit/nodes/nodes_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using node_watcher_test = nodes_fixture;

TEST_F(node_watcher_test, asks_each_node_with_its_key_at_once_and_every_minute) {
    start();
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].url, "http://stock:1/_rf/health");
    EXPECT_EQ(asked[0].key, "Bearer phk_of_stock");
    EXPECT_EQ(asked[0].limits.exchange_timeout, 5s);
    EXPECT_LE(asked[0].limits.reply_bytes_max, std::size_t{1} << 20);
    EXPECT_EQ(asked[1].key, "");
    loop.run_for(59s);
    EXPECT_EQ(asked.size(), 2U);
    loop.run_for(1s);
    EXPECT_EQ(asked.size(), 4U);
}

TEST_F(node_watcher_test, keeps_one_row_while_nothing_changes) {
    start();
    loop.run_for(1h);
    EXPECT_EQ(rows(), 2);
    const auto seen = look("stock");
    EXPECT_EQ(seen.at("light"), "green");
    EXPECT_EQ(parse_iso8601(seen.at("askedAt").as_string()),
              parse_iso8601(seen.at("seenAt").as_string()));
    EXPECT_EQ(*parse_iso8601(seen.at("askedAt").as_string()) -
                  *parse_iso8601(seen.at("since").as_string()),
              1h);
}

TEST_F(node_watcher_test, sees_one_go_away_and_come_back) {
    start();
    answers.at("http://stock:1") = fail(error_code::unreachable, "connection refused");
    loop.run_for(10min);
    auto seen = look("stock");
    EXPECT_EQ(seen.at("light"), "red");
    EXPECT_THAT(std::string(seen.at("reasons").as_array().at(0).as_string()),
                HasSubstr("connection refused"));
    EXPECT_EQ(*parse_iso8601(seen.at("askedAt").as_string()) -
                  *parse_iso8601(seen.at("seenAt").as_string()),
              10min);
    EXPECT_FALSE(seen.contains("latencyMs"));
    EXPECT_EQ(look("crm").at("light"), "green");

    answers.at("http://stock:1") = green;
    loop.run_for(1min);
    seen = look("stock");
    EXPECT_EQ(seen.at("light"), "green");
    EXPECT_EQ(seen.at("since"), seen.at("askedAt"));
    EXPECT_EQ(rows(), 4);
}

TEST_F(node_watcher_test, knows_since_when_a_light_is_on_whatever_its_reasons) {
    answers.at("http://stock:1") = told("yellow", R"(["a"])");
    start();
    const auto begun = look("stock").at("since");
    answers.at("http://stock:1") = told("yellow", R"(["b"])");
    loop.run_for(1min);
    EXPECT_EQ(rows(), 3);
    EXPECT_EQ(look("stock").at("since"), begun);
    EXPECT_EQ(look("stock").at("reasons").as_array().at(0), "b");
}

TEST_F(node_watcher_test, does_not_believe_a_light_that_was_not_asked_for_lately) {
    EXPECT_EQ(look("stock").at("light"), "unknown");
    start();
    stop();
    EXPECT_EQ(look("stock").at("light"), "green");
    loop.run_for(5min);
    EXPECT_EQ(look("stock").at("light"), "unknown");
    start();
    EXPECT_EQ(look("stock").at("light"), "green");
    EXPECT_EQ(rows(), 4);  // None knows what was in between.
}

TEST_F(node_watcher_test, deletes_what_was_true_longer_than_seven_days_ago) {
    watch.every = 6h;
    answers.at("http://stock:1") = told("red", R"(["a"])");
    start();
    answers.at("http://stock:1") = green;
    loop.run_for(7 * 24h);
    EXPECT_EQ(rows(), 3);
    loop.run_for(6h);
    EXPECT_EQ(rows(), 2);
}

TEST_F(node_watcher_test, writes_nothing_of_a_question_that_its_own_end_cut_off) {
    answers.at("http://stock:1") = fail(error_code::cancelled, "cancelled");
    answers.at("http://crm:2") = fail(error_code::closed, "closed");
    start();
    EXPECT_EQ(rows(), 0);
    announce_stop();
    answers.at("http://stock:1") = fail(error_code::unreachable, "the client was stopped");
    loop.run_for(1min);
    EXPECT_EQ(rows(), 0);
}

}  // namespace
}  // namespace posthorn
