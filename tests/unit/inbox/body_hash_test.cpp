#include "inbox/body_hash.hpp"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

message first() {
    message made;
    made.source = "orders";
    made.endpoint = "Charge";
    made.correlation_id = "c1";
    made.payload = "{}";
    return made;
}

TEST(body_hash, differs_with_everything_that_makes_another_body) {
    const std::vector<std::function<void(message&)>> changes{
        [](message& m) { m.type = message_type::command; },
        [](message& m) { m.endpoint = "Refund"; },
        [](message& m) { m.content_type = "text/plain"; },
        [](message& m) { m.correlation_id = "c2"; },
        [](message& m) { m.payload = "{ }"; },
        [](message& m) { m.correlation_id = "", m.payload = "c1{}"; },
    };
    for (const auto& change : changes) {
        auto other = first();
        change(other);
        EXPECT_NE(hash_body(other), hash_body(first())) << &change - changes.data();
    }
}

TEST(body_hash, is_the_same_for_another_attempt_of_the_same_message) {
    auto again = first();
    again.headers = R"({"rf-timestamp":"later"})";
    again.expires_at += 1h;
    again.max_retries = 9;
    again.priority = 3;
    EXPECT_EQ(hash_body(again), hash_body(first()));
}

}  // namespace
}  // namespace posthorn
