#include <gmock/gmock.h>

#include "base/async/bell.hpp"
#include "unit/transport/http/guarded/guarded_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::stranger_line;
using testing::HasSubstr;
using testing::StartsWith;
using line_ptr = std::shared_ptr<stranger_line>;
using enum guarded_trouble;

class guarded_client_pool : public test::guarded_fixture {};

TEST_F(guarded_client_pool, uses_a_connection_again_for_the_same_origin_only) {
    const auto& server = answering(std::string(ok));
    says("a.example", {"127.0.0.1"});
    says("b.example", {"127.0.0.1"});
    EXPECT_FALSE(send(url(server, "a.example")).reused);
    const auto again = send(url(server, "a.example"));
    EXPECT_TRUE(again.reused);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.address, "127.0.0.1");
    EXPECT_FALSE(send(url(server, "b.example")).reused) << "another name is another server";
    EXPECT_EQ(server.connections(), 2U);
    EXPECT_EQ(server_.questions("a.example"), 2U) << "what is kept needs no name";
}

TEST_F(guarded_client_pool, keeps_no_connection_for_more_than_its_time) {
    options_.idle_time_max = 10min;
    const auto& server = answering(std::string(ok));
    EXPECT_EQ(send(url(server)).status, 200);
    time_.advance(4min + 59s);
    EXPECT_TRUE(send(url(server)).reused);
    time_.advance(1s);
    settle();
    EXPECT_EQ(client().connections(), 0U) << "it is five minutes old, idle or not";
    EXPECT_FALSE(send(url(server)).reused);
}

TEST_F(guarded_client_pool, closes_what_is_idle_for_a_minute_by_itself) {
    bool closed = false;
    const auto& server = listen([&](line_ptr line) -> task<> {
        while (!(co_await line->hear()).empty()) co_await line->say(std::string(ok));
        closed = true;
    });
    EXPECT_EQ(send(url(server)).status, 200);
    EXPECT_EQ(client().idle_connections(), 1U);
    settle();
    time_.advance(60s);
    pump([&] { return closed; });
    EXPECT_EQ(client().connections(), 0U);
}

TEST_F(guarded_client_pool, has_a_bounded_number_and_lets_the_longest_idle_go) {
    options_.connections_max = 2;
    const auto& first = answering(std::string(ok));
    const auto& second = answering(std::string(ok));
    const auto& silent = listen([](line_ptr line) -> task<> {
        while (!(co_await line->hear()).empty()) {
        }
    });
    EXPECT_EQ(send(url(first)).status, 200);
    EXPECT_EQ(send(url(second)).status, 200);
    EXPECT_EQ(client().connections(), 2U);
    auto waiting = begin(url(silent));
    pump([&] { return silent.connections() == 1; });
    EXPECT_EQ(client().connections(), 2U);
    EXPECT_TRUE(send(url(second)).reused) << "the other one had to go";
    auto also = begin(url(silent));
    pump([&] { return silent.connections() == 2; });
    const auto third = send(url(first));
    EXPECT_EQ(third.trouble, overloaded);
    EXPECT_THAT(third.for_operator, HasSubstr("all 2 connections are in use"));
    EXPECT_EQ(wait_for(std::move(waiting)).trouble, late);
    EXPECT_EQ(wait_for(std::move(also)).trouble, late);
    EXPECT_EQ(client().connections(), 0U);
}

TEST_F(guarded_client_pool, bounds_what_is_idle) {
    options_.idle_max = 1;
    const auto& first = answering(std::string(ok));
    const auto& second = answering(std::string(ok));
    EXPECT_EQ(send(url(first)).status, 200);
    EXPECT_EQ(send(url(second)).status, 200);
    EXPECT_EQ(client().idle_connections(), 1U);
    EXPECT_TRUE(send(url(second)).reused);
    EXPECT_FALSE(send(url(first)).reused);
}

TEST_F(guarded_client_pool, does_not_use_one_that_the_peer_has_closed) {
    bool closed = false;
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        co_await line->say(std::string(ok));
        line->stream.close();
        closed = true;
    });
    EXPECT_EQ(send(url(server)).status, 200);
    pump([&] { return closed; });
    const auto again = send(url(server));
    EXPECT_EQ(again.status, 200);
    EXPECT_FALSE(again.reused);
}

TEST_F(guarded_client_pool, does_not_use_one_on_which_more_came_than_was_asked_for) {
    bool said = false;
    bell answered;
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        co_await line->say(std::string(ok));
        if (!co_await answered.wait()) co_return;
        co_await line->say("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
        said = true;
        while (!(co_await line->hear()).empty()) {
        }
    });
    EXPECT_EQ(send(url(server)).body, "ok");
    answered.ring();
    pump([&] { return said; });
    EXPECT_EQ(send(url(server)).body, "ok");
    EXPECT_EQ(server.connections(), 2U);
    finish();  // While the bell is there.
}

TEST_F(guarded_client_pool, sends_again_what_a_kept_connection_did_not_begin_to_answer) {
    int requests = 0;
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        ++requests;
        co_await line->say(std::string(ok));
        if (!(co_await line->hear()).empty()) ++requests;
        line->stream.close();
    });
    EXPECT_EQ(send(url(server)).status, 200);
    const auto again = send(url(server));
    EXPECT_EQ(again.status, 200);
    EXPECT_FALSE(again.reused);
    EXPECT_EQ(requests, 3);
}

TEST_F(guarded_client_pool, does_not_send_again_what_was_answered_in_part) {
    int requests = 0;
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        ++requests;
        co_await line->say(std::string(ok));
        if (!(co_await line->hear()).empty()) ++requests;
        co_await line->say("HTTP/1.1 200 OK\r\nContent-Le");
        line->stream.close();
    });
    EXPECT_EQ(send(url(server)).status, 200);
    EXPECT_EQ(send(url(server)).trouble, broken);
    EXPECT_EQ(requests, 2);
}

TEST_F(guarded_client_pool, keeps_none_once_it_was_stopped) {
    const auto& server = answering(std::string(ok));
    EXPECT_EQ(send(url(server)).status, 200);
    const auto stop = [this]() -> task<> {
        client().stop();
        co_return;
    };
    run(stop());
    EXPECT_EQ(client().connections(), 0U);
    EXPECT_EQ(send(url(server)).trouble, cancelled);
}

class guarded_client_with_proxy : public test::guarded_fixture {
protected:
    // A proxy that plays the server behind it too.
    test::stranger& proxy(std::string word) {
        auto& made = listen([this, word](line_ptr line) -> task<> {
            asked_.push_back(co_await line->hear());
            co_await line->say(word);
            while (!(co_await line->hear()).empty()) co_await line->say(std::string(ok));
        });
        says("proxy.example", {"127.0.0.1"});
        options_.proxy = guarded_proxy{"proxy.example", made.port(), "Basic abc"};
        return made;
    }

    std::vector<std::string> asked_;
};

TEST_F(guarded_client_with_proxy, is_led_to_the_address_that_was_judged) {
    proxy("HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n");
    says("hooks.example", {"93.184.216.34"});
    const auto answer = send("http://hooks.example/hook");
    EXPECT_EQ(answer.status, 200) << answer.for_operator;
    ASSERT_EQ(asked_.size(), 1U);
    EXPECT_EQ(asked_[0],
              "CONNECT 93.184.216.34:80 HTTP/1.1\r\nHost: 93.184.216.34:80\r\n"
              "Proxy-Authorization: Basic abc\r\n\r\n");
    EXPECT_TRUE(send("http://hooks.example/hook").reused);
}

TEST_F(guarded_client_with_proxy, is_not_asked_for_what_the_guard_refuses) {
    const auto& made = proxy("HTTP/1.1 200 OK\r\n\r\n");
    says("inner.example", {"10.0.0.1"});
    EXPECT_EQ(send("http://inner.example/").trouble, refused);
    EXPECT_EQ(made.connections(), 0U);
}

TEST_F(guarded_client_with_proxy, looks_for_names_itself_where_that_is_set) {
    proxy("HTTP/1.1 200 OK\r\n\r\n");
    options_.proxy->resolves = true;
    EXPECT_EQ(send("http://hooks.example:8080/hook").status, 200);
    EXPECT_THAT(asked_.at(0), StartsWith("CONNECT hooks.example:8080 HTTP/1.1\r\n"));
    EXPECT_EQ(server_.questions("hooks.example"), 0U);
    EXPECT_EQ(send("http://10.0.0.1/").trouble, refused) << "an address is judged all the same";
    EXPECT_EQ(send("http://localhost/").trouble, refused);
}

TEST_F(guarded_client_with_proxy, may_refuse_be_silent_or_say_too_much) {
    proxy("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const auto answer = send("http://93.184.216.34/");
    EXPECT_EQ(answer.trouble, guarded_trouble::proxy);
    EXPECT_THAT(answer.for_operator, HasSubstr("407"));
    EXPECT_EQ(answer.for_subscriber, "no connection");
    finish();
    proxy("");
    options_.proxy->host = "127.0.0.1";  // No name is looked for, which takes no virtual time.
    EXPECT_EQ(wait_for(begin("http://93.184.216.34/")).took.whole, 5s);
    finish();
    proxy("HTTP/1.1 200 " + std::string(10000, 'x'));
    EXPECT_EQ(send("http://93.184.216.34/").trouble, guarded_trouble::proxy);
}

}  // namespace
}  // namespace posthorn
