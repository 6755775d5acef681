#include "transport/dns/name_probe.hpp"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/name_server.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::eventually;

constexpr auto silent = [](const std::string&) { return test::name_server::reply{.silent = true}; };

TEST(name_probe, is_content_with_whatever_a_server_says) {
    for (const int code : {0, 3, 5}) {
        const test::name_server server(
            [code](const std::string&) { return test::name_server::reply{.code = code}; });
        name_probe probe({.limit = 2min, .servers = {server.address()}});
        EXPECT_TRUE(probe.ask("rabbit.example")) << code;
    }
}

TEST(name_probe, asks_no_server_for_an_address) {
    const test::name_server server(silent);
    name_probe probe({.limit = 2min, .servers = {server.address()}});
    EXPECT_TRUE(probe.ask("127.0.0.1"));
    EXPECT_TRUE(probe.ask("::1"));
}

TEST(name_probe, says_that_no_server_answers) {
    const test::name_server server(silent);
    name_probe probe({.limit = 20ms, .servers = {server.address()}});
    const auto said = probe.ask("rabbit.example");
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code(), error_code::timed_out);
}

TEST(name_probe, ends_at_once_when_it_is_cut) {
    const test::name_server server(silent);
    name_probe probe({.limit = 1h, .try_limit = 1h, .servers = {server.address()}});
    auto first = std::async(std::launch::async, [&] { return probe.ask("one.example"); });
    auto second = std::async(std::launch::async, [&] { return probe.ask("two.example"); });
    EXPECT_TRUE(eventually([&] {
        return server.questions("one.example") > 0 && server.questions("two.example") > 0;
    }));
    probe.cut();
    for (auto* const each : {&first, &second}) {
        const auto said = each->get();
        ASSERT_FALSE(said);
        EXPECT_EQ(said.error().code(), error_code::cancelled);
    }
    EXPECT_FALSE(probe.ask("127.0.0.1")) << "and what is asked later, too";
}

}  // namespace
}  // namespace posthorn
