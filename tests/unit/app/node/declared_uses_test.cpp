#include "app/node/declared_uses.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

error_code judge_route(route_facts facts) {
    const std::vector<detail::service_use> uses{{"emp/v1", "emp"}};
    const auto checked = check_uses(uses, [&](std::string_view) { return facts; });
    return checked ? error_code::cancelled : checked.error().code();
}

TEST(declared_uses, are_refused_without_a_route) {
    EXPECT_EQ(judge_route({.exists = false}), error_code::invalid_configuration);
    EXPECT_EQ(judge_route({.exists = true}), error_code::cancelled);
}

TEST(declared_uses, are_refused_without_a_secret_where_the_route_leaves_the_process) {
    EXPECT_EQ(judge_route({.exists = true, .leaves_process = true}),
              error_code::invalid_configuration);
    EXPECT_EQ(judge_route({.exists = true, .leaves_process = true, .has_secret = true}),
              error_code::cancelled);
}

TEST(declared_uses, of_which_there_are_none_need_nothing) {
    EXPECT_TRUE(check_uses({}, [](std::string_view) { return route_facts{}; }));
}

}  // namespace
}  // namespace posthorn
