#include "app/process_identity.hpp"

#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace posthorn {
namespace {

TEST(process_identity, of_a_living_process_is_not_gone) {
    EXPECT_FALSE(process_is_gone(process_identity("orders")));
}

TEST(process_identity, tells_two_nodes_of_one_process_apart) {
    EXPECT_NE(process_identity("orders"), process_identity("orders"));
}

TEST(process_identity, of_a_process_that_ended_is_gone) {
    auto identity = process_identity("orders");
    const auto child = ::fork();
    if (child == 0) ::_exit(0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const auto own = "/" + std::to_string(::getpid()) + "/";
    identity.replace(identity.find(own), own.size(), "/" + std::to_string(child) + "/");
    EXPECT_TRUE(process_is_gone(identity));
}

TEST(process_identity, of_another_machine_or_namespace_is_not_judged) {
    auto elsewhere = process_identity("orders");
    elsewhere.front() = elsewhere.front() == 'x' ? 'y' : 'x';
    EXPECT_FALSE(process_is_gone(elsewhere));
    EXPECT_FALSE(process_is_gone("somebody"));
    EXPECT_FALSE(process_is_gone(""));
}

}  // namespace
}  // namespace posthorn
