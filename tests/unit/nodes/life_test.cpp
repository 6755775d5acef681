#include "nodes/life.hpp"

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;

constexpr std::string_view id = "01890a5d-ac96-774b-bcce-b302099a8057";

result<http_response> answer(std::uint16_t status, std::string body) {
    return http_response{.status = status, .headers = {}, .body = std::move(body)};
}

std::string sent(std::string_view message) {
    return fmt::format(R"({{"messageId":"{}","destination":"crm","endpoint":"Tell",)"
                       R"("status":"Dead","createdAt":"t1","payload":"secret"}})",
                       message);
}

std::string traces_of(std::string body) {
    return boost::json::serialize(read_traces("stock", id, answer(200, std::move(body))).traces);
}

TEST(node_traces, tell_of_the_effect_at_a_receiver_and_of_what_it_caused) {
    EXPECT_EQ(traces_of(R"({"taken":[{"sourceServiceId":"orders","endpoint":"Ship",)"
                        R"("processedAt":"t0"}],"caused":[)" +
                        sent("c") + R"(],"more":false})"),
              R"([{"node":"stock","what":"taken","messageId":")" + std::string(id) +
                  R"(","service":"orders","endpoint":"Ship","status":"handled","at":"t0"},)"
                  R"({"node":"stock","what":"caused","messageId":"c","service":"crm",)"
                  R"("endpoint":"Tell","status":"Dead","at":"t1"}])");
}

TEST(node_traces, tell_that_a_handler_is_at_it) {
    EXPECT_THAT(traces_of(R"({"taken":[{"sourceServiceId":"orders","endpoint":"Ship",)"
                          R"("claimedUntil":"t9"}],"caused":[]})"),
                HasSubstr(R"("status":"at work","at":"t9")"));
    EXPECT_THAT(traces_of(R"({"taken":[{"sourceServiceId":"orders","endpoint":"Ship"}],)"
                          R"("caused":[]})"),
                HasSubstr(R"("status":"at work"}])"));
}

TEST(node_traces, tell_who_sent_it_and_what_caused_it_there) {
    const auto of_sender = traces_of(R"({"taken":[],"caused":[],"sent":)" + sent(id) +
                                     R"(,"cause":{"messageId":"b","taken":{)"
                                     R"("sourceServiceId":"shop","endpoint":"Order",)"
                                     R"("processedAt":"t0"}}})");
    EXPECT_THAT(of_sender, HasSubstr(R"("what":"cause","messageId":"b","service":"shop")"));
    EXPECT_THAT(of_sender, HasSubstr(R"("what":"sent","messageId":")" + std::string(id)));
    EXPECT_THAT(
        traces_of(R"({"taken":[],"caused":[],"cause":{"messageId":"b","sent":)" + sent("b") + "}}"),
        HasSubstr(R"("what":"cause","messageId":"b","service":"crm")"));
    EXPECT_EQ(traces_of(R"({"taken":[],"caused":[],"cause":{"messageId":"b"}})"), "[]");
}

TEST(node_traces, are_none_of_a_node_that_does_not_know_the_message) {
    for (const auto& each : {answer(200, R"({"taken":[],"caused":[],"more":false})"),
                             answer(404, R"({"error":"not_found","message":"nothing is at"})")}) {
        const auto none = read_traces("stock", id, each);
        EXPECT_TRUE(none.traces.empty());
        EXPECT_EQ(none.why, "");
        EXPECT_FALSE(none.more);
    }
}

TEST(node_traces, say_why_a_node_did_not_answer) {
    const auto why = [](const result<http_response>& answered) {
        return read_traces("stock", id, answered).why;
    };
    EXPECT_EQ(why(fail(error_code::unreachable, "refused")), "refused");
    EXPECT_THAT(why(answer(403, "{}")), HasSubstr("refuses the key"));
    for (const auto* const odd :
         {"<html>", "[]", "{}", R"({"taken":1,"caused":[]})", R"({"taken":[],"caused":{}})"})
        EXPECT_THAT(why(answer(200, odd)), HasSubstr("not as a node does")) << odd;
}

TEST(node_traces, leave_out_what_is_none_and_stop_at_a_hundred) {
    std::string list = R"(1,"x",{},{"messageId":5},null)";
    for (int i = 0; i < 150; ++i) list += "," + sent("c");
    const auto found = read_traces(
        "stock", id,
        answer(200, R"({"taken":[7,{}],"caused":[)" + list + R"(],"cause":3,"sent":"x"})"));
    EXPECT_LE(found.traces.size(), 100U);
    EXPECT_GE(found.traces.size(), 90U);
    EXPECT_TRUE(found.more);
    const auto told = read_traces("x", id, answer(200, R"({"taken":[],"caused":[],"more":true})"));
    EXPECT_TRUE(told.more);
}

TEST(node_traces, never_hold_a_payload_and_have_clean_texts_of_bounded_length) {
    const auto text = traces_of(R"({"taken":[{"sourceServiceId":")" + std::string(9000, 'x') +
                                R"(","endpoint":"a\u0000b"}],"caused":[)" + sent("c") + "]}");
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    EXPECT_LT(text.size(), 3000U);
}

TEST(node_traces, have_the_cause_of_the_node_that_sent_it_once) {
    auto found = read_traces("shop", id, answer(200, R"({"taken":[],"caused":[]})"));
    add_cause(found, "shop", answer(404, R"({"error":"not_found"})"));
    EXPECT_TRUE(found.traces.empty());
    EXPECT_EQ(found.why, "");
    for (int i = 0; i < 2; ++i) {
        add_cause(found, "shop", answer(200, sent("b")));
        ASSERT_EQ(found.traces.size(), 1U);
        EXPECT_EQ(found.traces[0].at("what"), "cause");
        EXPECT_EQ(found.traces[0].at("messageId"), "b");
    }
    node_traces silent;
    add_cause(silent, "shop", fail(error_code::unreachable, "gone"));
    EXPECT_EQ(silent.why, "gone");
}

}  // namespace
}  // namespace posthorn
