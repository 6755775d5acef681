#include "transport/broker/broker_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr broker_scheme rabbit{
    .plain = "amqp", .tls = "amqps", .plain_port = 5672, .tls_port = 5671, .has_path = true};
constexpr broker_scheme bare{.plain = "nats", .tls = "natss", .plain_port = 4222, .tls_port = 4223};

TEST(broker_url, has_a_user_a_host_a_port_and_a_virtual_host) {
    EXPECT_EQ(parse_broker_url("amqp://orders@rabbit:5673/prod", rabbit),
              (broker_url{.user = "orders", .host = "rabbit", .port = 5673, .path = "prod"}));
    EXPECT_EQ(parse_broker_url("amqps://rabbit", rabbit),
              (broker_url{.tls = true, .host = "rabbit", .port = 5671}));
    EXPECT_EQ(parse_broker_url("amqp://[::1]:80/%2Fprod", rabbit),
              (broker_url{.host = "::1", .port = 80, .path = "/prod"}));
    EXPECT_EQ(parse_broker_url("nats://n1", bare), (broker_url{.host = "n1", .port = 4222}));
    EXPECT_EQ(parse_broker_url("amqp://a%40b@rabbit/", rabbit)->user, "a@b");
}

TEST(broker_url, refuses_a_password_and_does_not_repeat_it) {
    for (const auto* const text : {"amqp://orders:hunter2@rabbit/prod",
                                   "amqp://orders:hun/ter2@rabbit", "amqp://:hunter2@rabbit"}) {
        const auto read = parse_broker_url(text, rabbit);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(read.error().what(), HasSubstr("password = \"env:NAME\""));
        EXPECT_THAT(read.error().what(), Not(HasSubstr("ter2")));
    }
}

TEST(broker_url, refuses_what_it_cannot_read) {
    for (const auto* const text :
         {"", "amqp:", "http://rabbit", "amqp://", "amqp://rabbit?heartbeat=1", "amqp://rabbit#a",
          "amqp://rabbit:0", "amqp://@rabbit", "amqp://rabbit/a/b", "amqp://%zz@rabbit"})
        EXPECT_FALSE(parse_broker_url(text, rabbit)) << text;
    EXPECT_FALSE(parse_broker_url("nats://n1/path", bare));
}

}  // namespace
}  // namespace posthorn
