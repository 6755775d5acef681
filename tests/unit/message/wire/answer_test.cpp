#include "message/wire/answer.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

const uuid some_id = *uuid::parse("0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001");

std::string written(const wire_answer& what) {
    std::string out;
    append_answer(out, what);
    return out;
}

TEST(answer, is_written_as_the_page_shows_it) {
    EXPECT_EQ(written({.acknowledged = true}),
              R"({"acknowledged":true,"duplicateDetected":false,"payload":null,"error":null})");
    EXPECT_EQ(written({.acknowledged = true, .duplicate = true, .payload = R"({ "a":1})"}),
              R"({"acknowledged":true,"duplicateDetected":true,"payload":{ "a":1},"error":null})");
    EXPECT_EQ(written({.error = "no \"room\"", .code = "store_full", .retry_after = 1500ms}),
              R"({"acknowledged":false,"duplicateDetected":false,"payload":null,)"
              R"("error":"no \"room\"","code":"store_full","retryAfterMs":1500})");
}

TEST(answer, a_payload_that_is_not_json_becomes_text) {
    EXPECT_NE(written({.payload = "hello"}).find(R"("payload":"hello")"), std::string::npos);
    EXPECT_NE(written({.payload = "\xff"}).find(R"("payload":"/w==")"), std::string::npos);
    EXPECT_NE(written({.payload = "1}"}).find(R"("payload":"1}")"), std::string::npos);
    EXPECT_TRUE(read_answer(written({.error = "\xff"})));
}

TEST(answer, comes_back_as_it_was) {
    const wire_answer cases[] = {
        {.acknowledged = true},
        {.acknowledged = true, .duplicate = true, .payload = R"({ "a" : [1] })"},
        {.error = "why\nnot", .code = "no_handler"},
        {.error = "later", .retry_after = 5s},
    };
    for (const auto& one : cases) {
        const auto read = read_answer(written(one));
        ASSERT_TRUE(read);
        EXPECT_EQ(*read, one);
    }
}

TEST(answer, is_read_in_pascal_case_and_with_fields_unknown) {
    const auto read = read_answer(
        R"({"Acknowledged":true,"x":{},"Payload":"p","Error":null,"status":500,"messageId":1})");
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(*read, (wire_answer{.acknowledged = true, .payload = "\"p\""}));
}

TEST(answer, says_neither_unless_it_is_told) {
    const auto read = read_answer("{}");
    ASSERT_TRUE(read);
    EXPECT_FALSE(read->acknowledged || read->duplicate);
}

TEST(answer, refuses_what_is_none) {
    for (const std::string_view bad :
         {"", "[]", "null", "{", R"({"acknowledged":"true"})", R"({"acknowledged":1})",
          R"({"acknowledged":true,"Acknowledged":true})", R"({"payload":[1,]})",
          R"({"retryAfterMs":-1})", R"({"retryAfterMs":"1"})", R"({"error":{}})", "<html>",
          R"({"acknowledged":true} x)"}) {
        const auto read = read_answer(bad);
        ASSERT_FALSE(read) << bad;
        EXPECT_EQ(read.error().code(), error_code::malformed_request);
    }
}

TEST(answer, a_pause_cannot_overflow) {
    const auto read = read_answer(R"({"retryAfterMs":18446744073709551615})");
    ASSERT_TRUE(read);
    EXPECT_GT(*read->retry_after, 0ms);
}

TEST(answers, come_back_in_their_order_with_id_and_status) {
    const std::vector<wire_answer> sent{
        {.status = 200, .id = some_id, .acknowledged = true, .payload = "[]"},
        {.status = 404, .id = uuid(), .error = "none", .code = "no_handler"},
        {.status = 400, .error = "bad", .code = "malformed_request"},
    };
    std::string text;
    append_answers(text, sent);
    const auto read = read_answers(text);
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(*read, sent);
    text.clear();
    append_answers(text, {});
    EXPECT_EQ(text, R"({"results":[]})");
    EXPECT_TRUE(read_answers(text)->empty());
}

TEST(answers, one_that_is_wrong_makes_all_of_them_doubtful) {
    for (const std::string_view bad :
         {R"({"results":[{},1]})", R"({"results":[{"status":99}]})",
          R"({"results":[{"status":600}]})", R"({"results":[{"messageId":"x"}]})",
          R"({"results":{}})", R"({"Result":[]})"})
        EXPECT_FALSE(read_answers(bad)) << bad;
    EXPECT_STREQ(read_answers(R"({"results":[{},{"status":99}]})").error().what(),
                 "results[1].status is not a status");
}

}  // namespace
}  // namespace posthorn
