#include "nodes/light.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr wall_time noon{std::chrono::hours{24 * 365 * 56 + 12}};

result<http_response> answer(std::uint16_t status, std::string body) {
    return http_response{.status = status, .headers = {}, .body = std::move(body)};
}

light_span span_of(std::string colour, std::vector<std::string> reasons, bool answered = true) {
    return {.began = noon - 1h,
            .asked = noon - 1min,
            .light = {
                .colour = std::move(colour), .reasons = std::move(reasons), .answered = answered}};
}

TEST(node_light, is_what_the_node_says_of_itself) {
    const auto seen = read_light(answer(200, R"({"status":"yellow","working":true,
        "reasons":["3 wait","a disk is full"],"service":"stock","version":"0.1"})"),
                                 true);
    EXPECT_EQ(seen, (node_light{.colour = "yellow",
                                .reasons = {"3 wait", "a disk is full"},
                                .answered = true,
                                .service = "stock",
                                .version = "0.1"}));
}

TEST(node_light, is_the_nodes_own_too_where_it_does_not_work) {
    const auto seen =
        read_light(answer(503, R"({"status":"red","working":false,"reasons":["no disk"]})"), true);
    EXPECT_TRUE(seen.answered);
    EXPECT_THAT(seen.reasons, ElementsAre("no disk"));
}

TEST(node_light, is_red_for_one_that_does_not_answer) {
    const auto seen = read_light(fail(error_code::unreachable, "connection refused"), true);
    EXPECT_EQ(seen.colour, "red");
    EXPECT_FALSE(seen.answered);
    EXPECT_THAT(seen.reasons, ElementsAre("does not answer: connection refused"));
}

TEST(node_light, is_red_for_one_that_refuses_the_key_or_asks_for_one) {
    for (const auto status : {std::uint16_t{401}, std::uint16_t{403}}) {
        EXPECT_THAT(read_light(answer(status, "{}"), true).reasons,
                    ElementsAre(HasSubstr("refuses the key")));
        EXPECT_THAT(read_light(answer(status, "{}"), false).reasons,
                    ElementsAre(HasSubstr("asks for a key")));
    }
}

TEST(node_light, is_red_for_what_is_no_node) {
    for (const std::string body :
         {"", "<html>", "[]", "{}", R"({"status":"green"})", R"({"status":"blue","working":true})",
          R"({"status":7,"working":true})", "\xff\xfe"}) {
        const auto seen = read_light(answer(200, body), true);
        EXPECT_EQ(seen.colour, "red") << body;
        EXPECT_FALSE(seen.answered) << body;
        EXPECT_THAT(seen.reasons, ElementsAre(HasSubstr("not as a node does"))) << body;
    }
    const auto healthy = R"({"status":"green","working":true,"reasons":[]})";
    EXPECT_EQ(read_light(answer(404, healthy), true).colour, "red");
}

TEST(node_light, holds_no_more_of_a_strangers_words_than_can_be_shown) {
    std::string reasons = R"("x")";
    for (int i = 0; i < 100; ++i) reasons += R"(,")" + std::string(5000, 'x') + R"(")";
    const auto seen = read_light(
        answer(200, R"({"status":"red","working":true,"reasons":[1,{},)" + reasons + "]}"), true);
    EXPECT_EQ(seen.reasons.size(), 20U);
    for (const auto& each : seen.reasons) EXPECT_LE(each.size(), 510U);
}

TEST(light_span, goes_on_while_light_and_reasons_are_the_same_but_for_numbers) {
    const auto last = span_of("yellow", {"312 messages wait"});
    const auto with = [](std::string colour, std::string reason, bool answered = true) {
        return node_light{
            .colour = std::move(colour), .reasons = {std::move(reason)}, .answered = answered};
    };
    EXPECT_TRUE(goes_on(last, with("yellow", "312 messages wait"), noon, 60s));
    EXPECT_TRUE(goes_on(last, with("yellow", "98 messages wait"), noon, 60s));
    EXPECT_FALSE(goes_on(last, with("yellow", "98 messages rest"), noon, 60s));
    EXPECT_FALSE(goes_on(last, with("red", "312 messages wait"), noon, 60s));
    EXPECT_FALSE(goes_on(last, with("yellow", "312 messages wait", false), noon, 60s));
    EXPECT_FALSE(goes_on(last, {.colour = "yellow", .answered = true}, noon, 60s));
}

TEST(light_span, ends_where_the_one_that_asks_was_silent_for_long) {
    const auto last = span_of("green", {});
    const node_light same{.colour = "green", .answered = true};
    EXPECT_TRUE(goes_on(last, same, last.asked + 4min, 60s));
    EXPECT_FALSE(goes_on(last, same, last.asked + 4min + 1ms, 60s));
    EXPECT_TRUE(is_fresh(noon, noon + 60s, 100ms));
    EXPECT_FALSE(is_fresh(noon, noon + 61s, 100ms));
}

TEST(light_reasons, survive_the_table_and_what_is_none_is_none) {
    const std::vector<std::string> reasons{"a \"b\"", "c\n"};
    EXPECT_EQ(decode_reasons(encode_reasons(reasons)), reasons);
    EXPECT_TRUE(decode_reasons("rubbish").empty());
    EXPECT_TRUE(decode_reasons("{}").empty());
}

}  // namespace
}  // namespace posthorn
