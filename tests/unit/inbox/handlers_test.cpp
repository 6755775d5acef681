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

}  // namespace
}  // namespace posthorn
