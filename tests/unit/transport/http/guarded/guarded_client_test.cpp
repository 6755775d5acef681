#include "transport/http/guarded/guarded_client.hpp"

#include <gmock/gmock.h>

#include "base/text/utf8.hpp"
#include "unit/transport/http/guarded/guarded_fixture.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using test::stranger_line;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using line_ptr = std::shared_ptr<stranger_line>;
using enum guarded_trouble;

class guarded_client_test : public test::guarded_fixture {};

TEST_F(guarded_client_test, sends_a_request_by_the_name_to_the_address_that_was_judged) {
    const auto& server = answering(std::string(ok));
    says("hooks.example", {"127.0.0.1"});
    guarded_request request{.url = url(server, "Hooks.Example.") + "?a=b",
                            .headers = {{"Content-Type", "application/json"}},
                            .custom = {{"X-Key", "k"}},
                            .body = "{\"a\":1}"};
    const auto answer = finish(begin(request));
    EXPECT_EQ(answer.trouble, none) << answer.for_operator;
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "ok");
    EXPECT_EQ(answer.address, "127.0.0.1");
    EXPECT_FALSE(answer.reused);
    ASSERT_EQ(heard_.size(), 1U);
    EXPECT_EQ(heard_[0],
              "POST /hook?a=b HTTP/1.1\r\nHost: hooks.example:" + std::to_string(server.port()) +
                  "\r\nContent-Type: application/json\r\nX-Key: k\r\n"
                  "Content-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_F(guarded_client_test, tells_the_headers_that_rule_what_comes_next) {
    const auto& server = answering(
        "HTTP/1.1 429 Too Many\r\nRetry-After: 120\r\nWebhook-Delivery: disable\r\n"
        "Content-Length: 0\r\n\r\n");
    const auto answer = send(url(server));
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.retry_after, "120");
    EXPECT_EQ(answer.webhook_delivery, "disable");
}

TEST_F(guarded_client_test, connects_to_nothing_that_the_guard_refuses) {
    const auto& server = answering(std::string(ok));
    const auto port = std::to_string(server.port());
    says("inner.example", {"127.0.0.2"});
    says("mixed.example", {"127.0.0.1", "127.0.0.2"});
    for (const std::string& target :
         {"http://127.0.0.2:" + port, "http://localhost:" + port, "http://inner.example:" + port,
          "http://mixed.example:" + port, "http://u@127.0.0.1:" + port,
          std::string("ftp://x.example"), "http://[::1]:" + port, "http://0x7f000001:" + port}) {
        const auto answer = send(target);
        EXPECT_EQ(answer.trouble, refused) << target;
        EXPECT_EQ(answer.for_subscriber, "address not allowed") << target;
        EXPECT_FALSE(answer.for_operator.empty());
        EXPECT_EQ(answer.status, 0);
    }
    EXPECT_EQ(server.connections(), 0U);
    EXPECT_THAT(send("http://inner.example:" + port).for_operator,
                HasSubstr("inner.example: 127.0.0.2 is refused: this machine"));
}

TEST_F(guarded_client_test, refuses_an_address_that_this_machine_has_got_since) {
    const auto& server = answering(std::string(ok));
    const std::string there = "http://192.0.1.1:" + std::to_string(server.port());
    client().set_rules({.plain_http = true, .own = {parse_plain_address("192.0.1.1").value()}});
    const auto answer = send(there);
    EXPECT_EQ(answer.trouble, refused);
    EXPECT_THAT(answer.for_operator, HasSubstr("192.0.1.1 is refused: this machine"));
    EXPECT_EQ(answer.for_subscriber, "address not allowed");
}

TEST_F(guarded_client_test, asks_once_so_that_no_name_changes_between_check_and_connection) {
    const auto& server = answering(std::string(ok));
    says("rebinding.example", {"127.0.0.1"});
    EXPECT_EQ(send(url(server, "rebinding.example")).status, 200);
    EXPECT_EQ(server_.questions("rebinding.example"), 2U) << "one for each family, and no more";
}

TEST_F(guarded_client_test, judges_a_name_again_for_each_connection) {
    const auto& closing = listen([](line_ptr line) -> task<> {
        (void)co_await line->hear();
        co_await line->say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    });
    says("rebinding.example", {"127.0.0.1"});
    EXPECT_EQ(send(url(closing, "rebinding.example")).status, 200);
    says("rebinding.example", {"127.0.0.2"});
    EXPECT_EQ(send(url(closing, "rebinding.example")).trouble, refused);
    EXPECT_EQ(closing.connections(), 1U);
}

TEST_F(guarded_client_test, says_that_a_name_is_not_found_or_not_told_in_time) {
    EXPECT_EQ(send("http://none.example/").trouble, name);
    says("silent.example", {});
    const auto late_one = wait_for(begin("http://silent.example/"));
    EXPECT_EQ(late_one.trouble, late);
    EXPECT_EQ(late_one.took.whole, 5s);
}

TEST_F(guarded_client_test, follows_no_redirect) {
    const auto& secret = answering(std::string(ok));
    const auto& server = answering("HTTP/1.1 302 Found\r\nLocation: " + url(secret) +
                                   "\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(send(url(server)).status, 302);
    EXPECT_EQ(secret.connections(), 0U);
}

TEST_F(guarded_client_test, reads_64_kib_of_an_answer_and_keeps_4000_characters) {
    const auto& server = listen([](line_ptr line) -> task<> {
        (void)co_await line->hear();
        co_await line->say("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n");
        while (co_await line->say(std::string(4096, 'x'))) {
        }
    });
    const auto answer = send(url(server));
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body_cut);
    EXPECT_TRUE(is_utf8(answer.body));
    EXPECT_THAT(answer.body, StartsWith(std::string(3999, 'x')));
    EXPECT_LT(answer.body.size(), 4010U);
    EXPECT_EQ(client().connections(), 0U) << "the rest of it would be taken for the next answer";
}

TEST_F(guarded_client_test, makes_no_room_for_what_a_length_promises) {
    const auto& server = listen([](line_ptr line) -> task<> {
        (void)co_await line->hear();
        co_await line->say("HTTP/1.1 200 OK\r\nContent-Length: 900000000000000000\r\n\r\nabc");
    });
    EXPECT_EQ(send(url(server)).trouble, broken);
}

TEST_F(guarded_client_test, unpacks_nothing_and_tells_what_came_as_text) {
    const std::string packed("\x1f\x8b\x08\x00\xff\xfe", 6);
    const auto& server = answering(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n" + packed);
    const auto answer = send(url(server));
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(is_utf8(answer.body));
    EXPECT_THAT(answer.body, HasSubstr("\xef\xbf\xbd"));
    EXPECT_THAT(heard_[0], Not(HasSubstr("Accept-Encoding")));
}

TEST_F(guarded_client_test, reads_chunks_and_bodies_that_end_with_the_connection) {
    const auto& chunked = answering(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    EXPECT_EQ(send(url(chunked)).body, "abcde");
    EXPECT_EQ(client().idle_connections(), 1U);
    const auto& open = listen([](line_ptr line) -> task<> {
        (void)co_await line->hear();
        co_await line->say("HTTP/1.1 500 Oops\r\n\r\nall of it");
    });
    const auto answer = send(url(open));
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, "all of it");
    EXPECT_FALSE(answer.body_cut);
    EXPECT_EQ(client().idle_connections(), 1U);
}

struct bad_answer {
    std::string name;
    std::string begin;
    std::string repeated;  // For as long as the client takes it.
    guarded_trouble trouble;
};

class guarded_client_and_bad_answers : public test::guarded_fixture,
                                       public testing::WithParamInterface<bad_answer> {};

TEST_P(guarded_client_and_bad_answers, names_what_is_wrong_and_keeps_no_connection) {
    const auto& [name, begin, repeated, trouble] = GetParam();
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        bool taken = co_await line->say(begin);
        while (taken && !repeated.empty()) taken = co_await line->say(repeated);
    });
    const auto answer = send(url(server));
    EXPECT_EQ(to_string(answer.trouble), to_string(trouble)) << answer.for_operator;
    EXPECT_FALSE(answer.for_subscriber.empty());
    EXPECT_EQ(answer.status, 0);
    EXPECT_EQ(client().connections(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    every, guarded_client_and_bad_answers,
    testing::Values(
        bad_answer{"closed_at_once", "", "", broken},
        bad_answer{"half_a_status", "HTTP/1.1 2", "", broken},
        bad_answer{"half_a_body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "", broken},
        bad_answer{"not_http", "SSH-2.0-OpenSSH_9.2\r\n", "", malformed},
        bad_answer{"http_2", "HTTP/2 200 OK\r\n\r\n", "", malformed},
        bad_answer{"endless_headers", "HTTP/1.1 200 OK\r\n",
                   "X-A: " + std::string(100, 'x') + "\r\n", malformed},
        bad_answer{"an_endless_header", "HTTP/1.1 200 OK\r\nX-A: ", std::string(100, 'x'),
                   malformed},
        bad_answer{"an_endless_reason", "HTTP/1.1 200 ", std::string(100, 'x'), malformed},
        bad_answer{"many_headers",
                   [] {
                       std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
                       for (int i = 0; i < 100; ++i) text += "a: b\r\n";
                       return text + "\r\n";
                   }(),
                   "", malformed},
        bad_answer{"only_hints", "", "HTTP/1.1 100 Continue\r\n\r\n", malformed},
        bad_answer{"two_lengths",
                   "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "",
                   malformed},
        bad_answer{"a_negative_length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "",
                   malformed},
        bad_answer{"a_chunk_without_a_length",
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "", malformed},
        bad_answer{"an_endless_chunk_head",
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", std::string(100, 'x'),
                   malformed}),
    [](const auto& one) { return one.param.name; });

TEST_F(guarded_client_test, gives_up_an_answer_that_drips_a_byte_a_second) {
    std::size_t bytes = 0;
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        bool taken = co_await line->say("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n");
        while (taken && co_await time_.sleep_for(1s)) {
            taken = co_await line->say("x");
            ++bytes;
        }
    });
    const auto answer = wait_for(begin(url(server)));
    EXPECT_EQ(answer.trouble, late);
    EXPECT_EQ(answer.for_subscriber, "Request timed out");
    EXPECT_EQ(answer.took.whole, 30s);
    EXPECT_EQ(answer.status, 0);
    EXPECT_GT(bytes, 10U);
    EXPECT_EQ(client().connections(), 0U);
}

TEST_F(guarded_client_test, gives_up_headers_that_drip_and_servers_that_are_silent) {
    const auto& dripping = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        bool taken = co_await line->say("HTTP/1.1 200 OK\r\n");
        while (taken && co_await time_.sleep_for(1s)) taken = co_await line->say("a: b\r\n");
    });
    EXPECT_EQ(wait_for(begin(url(dripping))).took.whole, 30s);
    const auto& silent = listen([](line_ptr line) -> task<> {
        while (!(co_await line->hear()).empty()) {
        }
    });
    guarded_request soon{.url = url(silent), .limit = 7s};
    const auto answer = wait_for(begin(soon));
    EXPECT_EQ(answer.trouble, late);
    EXPECT_EQ(answer.took.whole, 7s) << "a request may have a limit of its own";
}

TEST_F(guarded_client_test, gives_up_a_connection_that_is_not_taken) {
    using boost::asio::ip::tcp;
    tcp::acceptor full(loop_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    full.listen(0);
    std::vector<tcp::socket> waiting;
    for (int i = 0; i < 4; ++i) {
        waiting.emplace_back(loop_);
        waiting.back().async_connect(full.local_endpoint(), [](const auto&) {});
    }
    settle();
    const auto answer =
        wait_for(begin("http://127.0.0.1:" + std::to_string(full.local_endpoint().port()) + "/"));
    EXPECT_EQ(answer.trouble, late);
    EXPECT_EQ(answer.took.whole, 5s);
}

TEST_F(guarded_client_test, says_that_a_connection_is_refused) {
    const auto port = [&] {
        using boost::asio::ip::tcp;
        tcp::acceptor gone(loop_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        return gone.local_endpoint().port();
    }();
    const auto answer = send("http://127.0.0.1:" + std::to_string(port) + "/");
    EXPECT_EQ(answer.trouble, connect);
    EXPECT_EQ(answer.for_subscriber, "no connection");
    EXPECT_THAT(answer.for_operator, HasSubstr("127.0.0.1"));
}

TEST_F(guarded_client_test, sends_no_header_that_is_not_the_strangers_to_send) {
    const auto& server = answering(std::string(ok));
    for (const auto& each : {http_headers::field{"Host", "x"},
                             {"X-A", "a\r\nX-B: b"},
                             {"webhook-id", "x"},
                             {"X-Ours", "x"}}) {
        guarded_request request{
            .url = url(server), .headers = {{"x-ours", "1"}}, .custom = {each}, .body = "{}"};
        EXPECT_EQ(finish(begin(request)).trouble, bad_request) << each.first;
    }
    guarded_request request{.url = url(server), .headers = {{"webhook-id", "a\r\nHost: b"}}};
    EXPECT_EQ(finish(begin(request)).trouble, bad_request);
    EXPECT_EQ(server.connections(), 0U);
}

TEST_F(guarded_client_test, a_cancelled_request_closes_its_connection) {
    bool closed = false;
    const auto& server = listen([&](line_ptr line) -> task<> {
        (void)co_await line->hear();
        closed = (co_await line->hear()).empty();
    });
    task_group group(loop_.get_executor());
    guarded_answer answer;
    const auto work = [&]() -> task<> {
        answer = co_await client().send({.url = url(server), .body = "{}"});
    };
    group.spawn(work());
    pump([&] { return server.connections() == 1; });
    settle();
    const auto end = [&]() -> task<> {
        group.cancel();
        co_await group.join();
    };
    run(end());
    EXPECT_EQ(answer.trouble, cancelled);
    pump([&] { return closed; });
    EXPECT_EQ(client().connections(), 0U);
}

}  // namespace
}  // namespace posthorn
