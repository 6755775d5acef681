#include "transport/nats/nats_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <posthorn/error.hpp>

namespace posthorn {
namespace {

using testing::HasSubstr;

delivery judged(std::string_view body) { return judge_nats_answer({.body = body}, "audit.x"); }

TEST(nats_rules, take_an_answer_of_a_stream_for_delivered) {
    EXPECT_EQ(judged(R"({"stream":"AUDIT","seq":7})"), delivery{.what = outcome::delivered});
    EXPECT_TRUE(judged(R"({"stream":"AUDIT","seq":7,"duplicate":true})").duplicate);
}

TEST(nats_rules, name_a_subject_that_no_stream_takes) {
    const auto none = judge_nats_answer({.no_responders = true}, "audit.x");
    EXPECT_EQ(none.what, outcome::undeliverable);
    EXPECT_EQ(none.code, error_code::unroutable);
    EXPECT_THAT(none.error, HasSubstr("'audit.x'"));
}

TEST(nats_rules, tell_errors_apart) {
    const auto failed = [](int code, int number) {
        return judged(fmt::format(R"({{"error":{{"code":{},"err_code":{},"description":"why"}}}})",
                                  code, number));
    };
    EXPECT_EQ(failed(400, 10054).what, outcome::permanent);
    EXPECT_EQ(failed(400, 10054).code, error_code::message_too_large);
    EXPECT_EQ(failed(503, 10077).code, error_code::overloaded);
    EXPECT_EQ(failed(503, 10008).what, outcome::throttled);
    // A stream that is offline is none of the message's doing.
    EXPECT_EQ(failed(500, 10118).what, outcome::throttled);
    EXPECT_EQ(failed(400, 10071).what, outcome::transient);
    EXPECT_THAT(failed(400, 10071).error, HasSubstr("why (10071)"));
}

TEST(nats_rules, take_no_other_answer_for_a_confirmation) {
    for (const auto* const body :
         {"", "+OK", "[]", "{}", R"({"stream":"A"})", R"({"stream":"","seq":1})",
          R"({"stream":"A","seq":0})", R"({"stream":1,"seq":"1"})", "\xff"})
        EXPECT_EQ(judged(body).what, outcome::unanswered) << body;
}

TEST(nats_rules, know_what_can_be_published_to) {
    for (const auto* const good : {"a", "a.b", "Orders.placed-1"}) EXPECT_TRUE(is_subject(good));
    for (const auto* const bad : {"", ".", "a.", ".a", "a..b", "a b", "a.*", "a.>", "a\r\nPUB b"})
        EXPECT_FALSE(is_subject(bad)) << bad;
}

TEST(nats_rules, read_where_a_message_stands) {
    EXPECT_EQ(read_ack_subject("$JS.ACK.orders.stock.3.17.4.1795087830271771127.0"),
              (nats_place_in_stream{"orders", 3, 17}));
    EXPECT_EQ(read_ack_subject("$JS.ACK.hub.ACC.orders.stock.3.17.4.1795087830271771127.0.x"),
              (nats_place_in_stream{"orders", 3, 17}));
    for (const auto* const bad : {"", "$JS.ACK.orders.stock.3", "$JS.ACK.orders.stock.a.17.4.1.0",
                                  "_INBOX.ACK.orders.stock.3.17.4.1.0"})
        EXPECT_FALSE(read_ack_subject(bad)) << bad;
}

TEST(nats_rules, read_what_the_server_says_of_a_request) {
    using enum pull_status::kind;
    EXPECT_EQ(read_pull_status("100", ""), pull_status{});
    EXPECT_EQ(read_pull_status("408", "12"), (pull_status{over, 12}));
    EXPECT_EQ(read_pull_status("404", ""), (pull_status{over, std::nullopt}));
    EXPECT_EQ(read_pull_status("408", "many"), (pull_status{over, std::nullopt}));
    EXPECT_EQ(read_pull_status("409", ""), pull_status{lost});
    EXPECT_EQ(read_pull_status("503", ""), pull_status{lost});
    EXPECT_EQ(read_pull_status("200", ""), std::nullopt);
}

}  // namespace
}  // namespace posthorn
