#include "transport/dns/resolver.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "base/async/virtual_time.hpp"
#include "support/name_server.hpp"
#include "transport/own_addresses.hpp"

namespace posthorn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;
using found = result<std::vector<ip_address>>;

ip_address address(const std::string& text) { return boost::asio::ip::make_address(text); }

std::vector<std::string> texts(const found& from) {
    std::vector<std::string> all;
    if (!from) return {std::string(from.error().name())};
    for (const auto& each : *from) all.push_back(each.to_string());
    return all;
}

std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

// Sockets are real; time passes only when the test says so.
class resolver_test : public testing::Test {
protected:
    resolver make(const test::name_server& server, resolver_options options = {}) {
        options.servers = {server.address()};
        return resolver(time_, options);
    }

    std::future<found> begin(resolver& by, const std::string& name) {
        return start(loop_.get_executor(), by.find(name));
    }

    found finish(std::future<found> begun) {
        while (begun.wait_for(0s) != std::future_status::ready) {
            loop_.restart();
            loop_.run_one();
        }
        return begun.get();
    }

    found find(resolver& by, const std::string& name) { return finish(begin(by, name)); }

    boost::asio::io_context loop_{1};
    virtual_time time_;
};

TEST_F(resolver_test, finds_the_addresses_of_both_families_ipv4_first) {
    const test::name_server server([](const std::string&) -> test::name_server::reply {
        return {.addresses = {address("2606:4700::1"), address("93.184.216.34"),
                              address("93.184.216.34")}};
    });
    auto by = make(server);
    EXPECT_THAT(texts(find(by, "hooks.example")), ElementsAre("93.184.216.34", "2606:4700::1"));
    EXPECT_EQ(server.questions("hooks.example"), 2U) << "one for each family";
    EXPECT_EQ(by.names_at_work(), 0U);
}

TEST_F(resolver_test, is_content_with_one_family) {
    const test::name_server server([](const std::string& name) -> test::name_server::reply {
        return {.addresses = {address(name == "four.example" ? "93.184.216.34" : "2606::1")}};
    });
    auto by = make(server);
    EXPECT_THAT(texts(find(by, "four.example")), ElementsAre("93.184.216.34"));
    EXPECT_THAT(texts(find(by, "six.example")), ElementsAre("2606::1"));
}

TEST_F(resolver_test, asks_no_server_for_an_address) {
    const test::name_server server([](const std::string&) { return test::name_server::reply{}; });
    auto by = make(server);
    EXPECT_THAT(texts(find(by, "93.184.216.34")), ElementsAre("93.184.216.34"));
    EXPECT_THAT(texts(find(by, "2606::1")), ElementsAre("2606::1"));
    EXPECT_EQ(server.questions("93.184.216.34"), 0U);
}

TEST_F(resolver_test, names_that_no_server_answers_hold_up_no_other) {
    const test::name_server server([](const std::string& name) -> test::name_server::reply {
        return {.addresses = {address("93.184.216.34")}, .silent = name.starts_with("dead")};
    });
    auto by = make(server);
    std::vector<std::future<found>> dead;
    for (int i = 0; i < 100; ++i)
        dead.push_back(begin(by, "dead-" + std::to_string(i) + ".example"));
    EXPECT_THAT(texts(find(by, "alive.example")), ElementsAre("93.184.216.34"));
    EXPECT_EQ(by.names_at_work(), 100U) << "none of them has ended";
    loop_.restart();
    loop_.poll();
    time_.advance(5s);
    for (auto& each : dead) EXPECT_THAT(texts(finish(std::move(each))), ElementsAre("timed_out"));
    EXPECT_EQ(by.names_at_work(), 0U);
}

TEST_F(resolver_test, looks_for_a_bounded_number_of_names) {
    const test::name_server server([](const std::string& name) -> test::name_server::reply {
        return {.addresses = {address("93.184.216.34")}, .silent = name == "dead.example"};
    });
    auto by = make(server, {.names_at_once_max = 1});
    auto dead = begin(by, "dead.example");
    loop_.poll();
    EXPECT_THAT(texts(find(by, "alive.example")), ElementsAre("overloaded"));
    EXPECT_THAT(texts(find(by, "1.2.3.4")), ElementsAre("1.2.3.4")) << "it takes no place";
    loop_.restart();
    loop_.poll();
    time_.advance(5s);
    EXPECT_THAT(texts(finish(std::move(dead))), ElementsAre("timed_out"));
    EXPECT_THAT(texts(find(by, "alive.example")), ElementsAre("93.184.216.34"));
}

TEST_F(resolver_test, a_cancelled_search_ends_at_once_and_leaves_no_socket) {
    const test::name_server server([](const std::string& name) -> test::name_server::reply {
        return {.addresses = {address("93.184.216.34")}, .silent = name == "dead.example"};
    });
    auto by = make(server);
    ASSERT_TRUE(find(by, "alive.example"));  // What the loop itself needs is open from here on.
    const auto before = open_files();
    task_group group(loop_.get_executor());
    std::vector<std::string> outcome;
    const auto search = [&]() -> task<> { outcome = texts(co_await by.find("dead.example")); };
    group.spawn(search());
    loop_.restart();
    loop_.poll();
    EXPECT_GT(open_files(), before);
    // On the loop: from elsewhere Asio posts a cancellation, which may come too late.
    const auto end = [&]() -> task<> {
        group.cancel();
        co_await group.join();
    };
    auto joined = start(loop_.get_executor(), end());
    loop_.restart();
    loop_.run();
    joined.get();
    EXPECT_THAT(outcome, ElementsAre("cancelled"));
    EXPECT_EQ(by.names_at_work(), 0U);
    EXPECT_EQ(open_files(), before);
}

TEST_F(resolver_test, remembers_nothing_so_that_each_answer_is_judged) {
    std::atomic<bool> rebound = false;
    const test::name_server server([&](const std::string&) -> test::name_server::reply {
        return {.addresses = {address(rebound ? "127.0.0.1" : "93.184.216.34")}};
    });
    auto by = make(server);
    const auto first = find(by, "rebinding.example");
    ASSERT_TRUE(first);
    EXPECT_TRUE(judge_answer(*first, {}));
    rebound = true;
    const auto second = find(by, "rebinding.example");
    ASSERT_TRUE(second);
    EXPECT_FALSE(judge_answer(*second, {}));
}

TEST_F(resolver_test, says_that_a_name_does_not_exist_or_has_no_address) {
    const test::name_server server([](const std::string& name) -> test::name_server::reply {
        return {.code = name == "none.example" ? 3 : 0};
    });
    auto by = make(server);
    const auto none = find(by, "none.example");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code(), error_code::unreachable);
    EXPECT_THAT(none.error().what(), HasSubstr("there is no name 'none.example'"));
    const auto empty = find(by, "empty.example");
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code(), error_code::unreachable);
    EXPECT_THAT(empty.error().what(), HasSubstr("'empty.example'"));
}

TEST_F(resolver_test, says_that_a_server_refuses) {
    const test::name_server server(
        [](const std::string&) { return test::name_server::reply{.code = 5}; });
    auto by = make(server);
    const auto refused = find(by, "any.example");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), error_code::unreachable);
}

TEST_F(resolver_test, asks_the_next_server_where_one_is_gone) {
    std::string gone;
    {
        const test::name_server closed(
            [](const std::string&) { return test::name_server::reply{}; });
        gone = closed.address();
    }
    const test::name_server server([](const std::string&) -> test::name_server::reply {
        return {.addresses = {address("93.184.216.34")}};
    });
    // c-ares reckons its tries with the machine's clock.
    real_timer time;
    resolver by(time, {.limit = 60s, .try_limit = 500ms, .servers = {gone, server.address()}});
    EXPECT_THAT(texts(find(by, "hooks.example")), ElementsAre("93.184.216.34"));
}

TEST_F(resolver_test, does_not_believe_answers_to_what_was_not_asked) {
    const test::name_server server([](const std::string&) -> test::name_server::reply {
        return {.addresses = {address("93.184.216.34")}, .lies_first = true};
    });
    auto by = make(server);
    EXPECT_THAT(texts(find(by, "hooks.example")), ElementsAre("93.184.216.34"));
}

TEST_F(resolver_test, asks_over_tcp_for_what_a_datagram_does_not_hold) {
    const test::name_server server([](const std::string&) -> test::name_server::reply {
        test::name_server::reply all{.cut_on_udp = true};
        for (int i = 1; i <= 200; ++i)
            all.addresses.push_back(address("93.184.216." + std::to_string(i)));
        return all;
    });
    auto by = make(server);
    const auto all = find(by, "many.example");
    ASSERT_TRUE(all) << all.error().what();
    EXPECT_EQ(all->size(), 200U);
}

TEST_F(resolver_test, gives_all_of_many_addresses_so_that_one_bad_one_is_seen) {
    const test::name_server server([](const std::string&) -> test::name_server::reply {
        test::name_server::reply all;
        for (int i = 1; i <= 60; ++i)
            all.addresses.push_back(address("93.184.216." + std::to_string(i)));
        all.addresses.push_back(address("::ffff:10.0.0.1"));
        return all;
    });
    auto by = make(server);
    const auto all = find(by, "many.example");
    ASSERT_TRUE(all) << all.error().what();
    EXPECT_EQ(all->size(), 61U);
    EXPECT_FALSE(judge_answer(*all, {}));
}

TEST_F(resolver_test, follows_an_alias) {
    const test::name_server server([](const std::string&) -> test::name_server::reply {
        return {.addresses = {address("10.0.0.1")}, .alias_of = "real.example"};
    });
    auto by = make(server);
    const auto inner = find(by, "alias.example");
    EXPECT_THAT(texts(inner), ElementsAre("10.0.0.1"));
    EXPECT_FALSE(judge_answer(*inner, {}));
}

TEST_F(resolver_test, asks_the_systems_file_of_hosts_first) {
    const test::name_server server(
        [](const std::string&) { return test::name_server::reply{.code = 3}; });
    auto by = make(server);
    const auto local = find(by, "localhost");
    ASSERT_TRUE(local) << local.error().what();
    EXPECT_FALSE(judge_answer(*local, {})) << "and what it says is judged as well";
    EXPECT_EQ(server.questions("localhost"), 0U);
}

TEST_F(resolver_test, tries_no_other_name_than_the_one_given) {
    const test::name_server server(
        [](const std::string&) { return test::name_server::reply{.code = 3}; });
    auto by = make(server);
    EXPECT_FALSE(find(by, "intranet"));
    EXPECT_FALSE(find(by, std::string("a\0b.example", 11)));
    EXPECT_EQ(server.questions("a"), 0U);
}

TEST_F(resolver_test, says_that_its_servers_are_none) {
    resolver by(time_, {.servers = {"not an address"}});
    const auto refused = find(by, "any.example");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what(), HasSubstr("check the name servers given"));
}

TEST(own_addresses, are_those_of_this_machines_interfaces) {
    const auto all = own_addresses();
    ASSERT_TRUE(all);
    EXPECT_THAT(*all, testing::Contains(address("127.0.0.1")));
    for (const auto& each : *all) EXPECT_FALSE(judge_address(each, {.own = *all}));
}

}  // namespace
}  // namespace posthorn
