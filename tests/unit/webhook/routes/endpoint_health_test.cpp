#include "webhook/routes/endpoint_health.hpp"

#include <gtest/gtest.h>

#include "webhook/subscription.hpp"

namespace posthorn {
namespace {

struct health_case {
    subscription_state state;
    const char* trouble;
    std::optional<bool> last_was_taken;
    endpoint_health is;
};

TEST(endpoint_health, follows_from_its_state_and_its_last_attempt) {
    using state = subscription_state;
    using health = endpoint_health;
    const health_case cases[] = {
        {state::active, "", std::nullopt, health::quiet},
        {state::active, "", true, health::delivering},
        {state::active, "", false, health::failing},
        {state::active, "no key", true, health::failing},
        {state::paused, "", false, health::paused},
        {state::paused, "no key", true, health::failing},
        {state::disabled, "", false, health::disabled},
        {state::disabled, "no key", true, health::disabled},
    };
    for (const auto& one : cases)
        EXPECT_EQ(judge_endpoint(one.state, one.trouble, one.last_was_taken), one.is)
            << to_string(one.state) << ' ' << one.trouble;
}

TEST(endpoint_health, is_read_as_it_is_written) {
    for (int i = 0; i < 5; ++i) {
        const auto one = static_cast<endpoint_health>(i);
        EXPECT_EQ(parse_endpoint_health(to_string(one)), one);
    }
    EXPECT_FALSE(parse_endpoint_health("fine"));
}

TEST(subscriptions, name_the_field_that_is_wrong) {
    subscription one;
    one.url = "https://shop.example/hook";
    EXPECT_EQ(wrong_field(one, false), "");
    one.filter = "{";
    EXPECT_EQ(wrong_field(one, false), "filter");
    one.url = "http://shop.example/hook";
    EXPECT_EQ(wrong_field(one, false), "url");
    EXPECT_EQ(wrong_field(one, true), "filter");
}

}  // namespace
}  // namespace posthorn
