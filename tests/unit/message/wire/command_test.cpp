#include "message/wire/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::string_view id = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001";
constexpr command_place place{.source = "engine", .endpoint = "Reserve"};

result<message> read(std::string_view json) {
    return read_command(json, place, {.destination = "stock", .now = wall_time{} + 1000h});
}

TEST(command, with_a_payload_is_a_message_to_the_endpoint_it_was_posted_to) {
    for (const auto* const text :
         {R"({"commandId":"ID","payload":{"sku": "tea"},"correlationId":"o1"})",
          R"({"CommandId":"ID","Payload":{"sku": "tea"},"CorrelationId":"o1"})",
          R"({"CallId":"ID","payload":{"sku": "tea"} ,"correlationId":"o1","more":[1]})"}) {
        std::string json = text;
        json.replace(json.find("ID\""), 2, id);
        const auto made = read(json);
        ASSERT_TRUE(made) << made.error().what();
        EXPECT_EQ(made->id, *uuid::parse(id));
        EXPECT_EQ(made->source, "engine");
        EXPECT_EQ(made->destination, "stock");
        EXPECT_EQ(made->endpoint, "Reserve");
        EXPECT_EQ(made->type, message_type::signal);
        EXPECT_EQ(made->payload, R"({"sku": "tea"})");
        EXPECT_EQ(made->correlation_id, "o1");
        EXPECT_EQ(made->expires_at, wall_time{} + 1024h);
    }
}

TEST(command, without_an_envelope_expires_a_day_after_the_time_in_its_id) {
    const auto expiry = [](std::string_view written) {
        return read(fmt::format(R"({{"commandId":"{}"}})", written))->expires_at;
    };
    EXPECT_EQ(expiry("00000036-ee80-7d11-8a4e-3f1f7a7e0001"), wall_time{} + 1h + 24h);
    EXPECT_EQ(expiry("00000036-ee80-4d11-8a4e-3f1f7a7e0001"), wall_time{} + 1024h) << "no time";
    EXPECT_EQ(expiry(id), wall_time{} + 1024h) << "a time to come lengthens nothing";
}

TEST(command, without_a_payload_is_the_payload_itself) {
    const auto json = fmt::format(R"({{"CommandId":"{}","sku":"tea","quantity":2}})", id);
    EXPECT_EQ(read(json)->payload, json);
}

TEST(command, that_is_an_envelope_is_read_as_one_and_must_be_for_the_endpoint) {
    const auto envelope = [](std::string_view endpoint) {
        return fmt::format(R"({{"commandId":"{0}","messageId":"{0}","sourceServiceId":"engine",)"
                           R"("messageType":"Command","endpoint":"{1}","payload":7}})",
                           id, endpoint);
    };
    const auto made = read(envelope("Reserve"));
    ASSERT_TRUE(made);
    EXPECT_EQ(made->type, message_type::command);
    EXPECT_EQ(made->payload, "7");
    const auto elsewhere = read(envelope("Release"));
    ASSERT_FALSE(elsewhere);
    EXPECT_EQ(elsewhere.error().code(), error_code::malformed_request);
    EXPECT_THAT(elsewhere.error().what(), HasSubstr("another one than that of the path"));
}

TEST(command, is_refused_without_one_clear_id) {
    const std::string other = "0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0002";
    for (const auto& json : {std::string("{}"), std::string("[]"), std::string("x"),
                             std::string(R"({"payload":1})"), std::string(R"({"commandId":"7"})"),
                             fmt::format(R"({{"commandId":"{}","CommandId":"{}"}})", id, id),
                             fmt::format(R"({{"commandId":"{}","callId":"{}"}})", id, other)}) {
        const auto refused = read(json);
        ASSERT_FALSE(refused) << json;
        EXPECT_EQ(refused.error().code(), error_code::malformed_request) << json;
    }
}

}  // namespace
}  // namespace posthorn
