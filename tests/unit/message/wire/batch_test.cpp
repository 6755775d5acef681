#include <string>

#include <gtest/gtest.h>

#include "message/wire/envelope.hpp"

namespace posthorn {
namespace {

envelope_rules rules() { return {.destination = "stock", .now = wall_time{}}; }

message numbered(std::uint8_t number) {
    message made;
    made.id = uuid({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, number});
    made.source = "orders";
    made.endpoint = "E";
    made.payload = R"(["}]{", {"a":[]}])";
    return made;
}

std::string envelope_of(std::uint8_t number) {
    std::string out;
    append_envelope(out, numbered(number));
    return out;
}

TEST(batch, comes_back_in_its_order) {
    const auto one = numbered(1);
    const auto two = numbered(2);
    std::string text;
    append_batch(text, {&one, &two});
    const auto read = read_batch(text, rules());
    ASSERT_TRUE(read) << read.error().what();
    ASSERT_EQ(read->size(), 2U);
    EXPECT_EQ((*read)[0]->id, one.id);
    EXPECT_EQ((*read)[1]->id, two.id);
    EXPECT_EQ((*read)[1]->payload, two.payload);
}

TEST(batch, may_be_empty_and_in_pascal_case) {
    EXPECT_TRUE(read_batch(R"({"messages":[]})", rules())->empty());
    EXPECT_EQ(read_batch(R"( { "x":[{"messages":1}], "Messages" : [ )" + envelope_of(1) + " ] } ",
                         rules())
                  ->size(),
              1U);
}

TEST(batch, a_malformed_message_spoils_none_of_the_others) {
    for (const std::string_view bad :
         {R"({})", R"({"messageId":17})", R"(17)", R"([1,[2]])", R"(null)", R"("text")",
          R"({"a":tru})", R"({"a":[1 2]})", R"({"a":"\x"})", R"({"":{}})"}) {
        const auto text =
            fmt::format(R"({{"messages":[{},{},{}]}})", envelope_of(1), bad, envelope_of(2));
        const auto read = read_batch(text, rules());
        ASSERT_TRUE(read) << bad << read.error().what();
        ASSERT_EQ(read->size(), 3U) << bad;
        EXPECT_TRUE((*read)[0]);
        ASSERT_FALSE((*read)[1]) << bad;
        EXPECT_EQ((*read)[1].error().code(), error_code::malformed_request);
        EXPECT_TRUE(std::string_view((*read)[1].error().what()).starts_with("messages[1]"));
        EXPECT_TRUE((*read)[2]) << bad;
    }
}

TEST(batch, an_error_names_the_message_and_its_field) {
    const auto read = read_batch(R"({"messages":[{"messageId":"x"}]})", rules());
    ASSERT_TRUE(read);
    EXPECT_STREQ((*read)[0].error().what(), "messages[0].messageId is not a UUID");
}

TEST(batch, is_refused_as_a_whole_if_it_is_none) {
    const auto one = envelope_of(1);
    const std::string cases[] = {"",
                                 "[]",
                                 "{}",
                                 "null",
                                 R"({"messages":{}})",
                                 R"({"messages":null})",
                                 R"({"messages":[],"messages":[]})",
                                 R"({"messages":[],"Messages":[]})",
                                 R"({"messages":[)" + one,
                                 R"({"messages":[)" + one + "]",
                                 R"({"messages":[)" + one + "}",
                                 R"({"messages":[)" + one + "]}}",
                                 R"({"messages":[)" + one + one + "]}",
                                 R"({"messages":[,]})",
                                 R"({"messages":[]} 1)",
                                 "{\"messages\":[\"\xff\"]}",
                                 std::string(100'000, '{'),
                                 R"({"messages":)" + std::string(100'000, '['),
                                 one};
    for (const auto& bad : cases) {
        const auto read = read_batch(bad, rules());
        ASSERT_FALSE(read) << bad.substr(0, 100);
        EXPECT_EQ(read.error().code(), error_code::malformed_request);
    }
}

TEST(batch, cut_anywhere_it_is_refused) {
    const auto whole = fmt::format(R"({{"messages":[{},{}]}})", envelope_of(1), envelope_of(2));
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(read_batch(whole.substr(0, size), rules())) << size;
}

TEST(batch, with_too_many_messages_is_too_large) {
    auto limited = rules();
    limited.messages_max = 2;
    EXPECT_TRUE(read_batch(R"({"messages":[1,2]})", limited));
    const auto refused = read_batch(R"({"messages":[1,2,3]})", limited);
    EXPECT_EQ(refused.error().code(), error_code::message_too_large);
    EXPECT_STREQ(refused.error().what(),
                 "messages has more than 2 elements; limits.messages_in_batch allows no more");
}

}  // namespace
}  // namespace posthorn
