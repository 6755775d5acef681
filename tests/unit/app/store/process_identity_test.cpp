#include "app/store/process_identity.hpp"

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

// `machine/boot/namespace/process/start/part` with one of them changed.
std::string with(std::size_t field, const std::string& value) {
    auto identity = process_identity("orders");
    std::size_t from = 0;
    for (; field > 0; --field) from = identity.find('/', from) + 1;
    return identity.replace(from, identity.find('/', from) - from, value);
}

TEST(process_identity, needs_no_name_of_the_machine_to_see_that_a_process_of_this_boot_ended) {
    EXPECT_TRUE(process_is_gone(with(4, "1")));
    auto nameless = with(4, "1");
    EXPECT_TRUE(process_is_gone(nameless.erase(0, nameless.find('/'))));
}

TEST(process_identity, of_another_machine_or_namespace_is_not_judged) {
    EXPECT_FALSE(process_is_gone(with(2, "pid:[1]")));
    auto elsewhere = with(1, "another-boot");
    EXPECT_FALSE(process_is_gone(elsewhere.replace(0, elsewhere.find('/'), "elsewhere")));
    EXPECT_FALSE(process_is_gone("somebody"));
    EXPECT_FALSE(process_is_gone(""));
}

}  // namespace
}  // namespace posthorn
