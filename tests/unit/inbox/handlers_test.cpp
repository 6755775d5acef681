#include "inbox/handlers.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

handler answering(std::string text) {
    return {.run = blocking_handler([text](const message&) { return text; })};
}

TEST(handlers, finds_a_handler_by_its_endpoint) {
    handlers registry;
    ASSERT_TRUE(registry.add("A", answering("a")));
    ASSERT_TRUE(registry.add("B", answering("b")));
    const auto* found = registry.find("B");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(std::get<blocking_handler>(found->run)({}), "b");
    EXPECT_EQ(registry.find("C"), nullptr);
    EXPECT_EQ(registry.find("b"), nullptr);
}

TEST(handlers, an_endpoint_has_one_handler) {
    handlers registry;
    ASSERT_TRUE(registry.add("A", answering("first")));
    EXPECT_EQ(registry.add("A", answering("second")).error().code(), error_code::invalid_argument);
    EXPECT_EQ(std::get<blocking_handler>(registry.find("A")->run)({}), "first");
}

TEST(handlers, refuses_what_could_never_be_called) {
    handlers registry;
    EXPECT_FALSE(registry.add("", answering("a")));
    EXPECT_FALSE(registry.add("A", {.run = transactional_handler{}}));
    EXPECT_EQ(registry.find("A"), nullptr);
}

TEST(handlers, takes_none_once_frozen) {
    handlers registry;
    registry.freeze();
    EXPECT_EQ(registry.add("A", answering("a")).error().code(), error_code::invalid_argument);
    EXPECT_EQ(registry.find("A"), nullptr);
}

struct hire {
    int who = 0;
};
POSTHORN_SIGNAL(hire, "Hire", who)
struct dismiss {
    int who = 0;
};
POSTHORN_SIGNAL(dismiss, "Dismiss", who)
using emp = service<"emp", 1, hire, dismiss>;
constexpr detail::service_info emp_info{emp::versioned, emp::endpoints, &emp::index_of};

TEST(handlers, finds_the_endpoints_of_a_service_by_its_own_table) {
    handlers registry;
    const auto number = registry.offer(emp_info);
    ASSERT_TRUE(number);
    ASSERT_TRUE(registry.add_to_service(*number, 1, answering("dismissed")));
    ASSERT_TRUE(registry.add("Hire", answering("by name")));
    EXPECT_EQ(std::get<blocking_handler>(registry.find("emp/v1/Dismiss")->run)({}), "dismissed");
    EXPECT_EQ(std::get<blocking_handler>(registry.find("Hire")->run)({}), "by name");
    EXPECT_EQ(registry.find("emp/v2/Hire"), nullptr);
}

TEST(handlers, an_offered_service_is_complete_when_each_message_has_a_handler) {
    handlers registry;
    EXPECT_TRUE(registry.complete());
    const auto number = registry.offer(emp_info);
    ASSERT_TRUE(number);
    ASSERT_TRUE(registry.add_to_service(*number, 0, answering("a")));
    EXPECT_EQ(registry.complete().error().code(), error_code::invalid_configuration);
    ASSERT_TRUE(registry.add_to_service(*number, 1, answering("b")));
    EXPECT_TRUE(registry.complete());
    EXPECT_FALSE(registry.add_to_service(*number, 1, answering("again")));
    EXPECT_FALSE(registry.offer(emp_info));
}

TEST(handlers, gives_responses_to_handlers_that_take_them) {
    handlers registry;
    auto typed = answering("command");
    typed.takes_responses = false;
    ASSERT_TRUE(registry.add("A", std::move(typed)));
    ASSERT_TRUE(registry.add("B", answering("by name")));
    message response;
    response.type = message_type::response;
    response.endpoint = "A";
    EXPECT_EQ(registry.find(response), nullptr);
    ASSERT_TRUE(registry.add_response("A", answering("response")));
    EXPECT_EQ(std::get<blocking_handler>(registry.find(response)->run)({}), "response");
    EXPECT_FALSE(registry.add_response("A", answering("again")));
    response.endpoint = "B";
    EXPECT_EQ(std::get<blocking_handler>(registry.find(response)->run)({}), "by name");
}

}  // namespace
}  // namespace posthorn
