#include "transport/wire/wire_server.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "unit/transport/wire/wire_rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

std::string one_message(std::uint8_t number = 1) {
    std::string body;
    append_envelope(body, wire_message(number));
    return body;
}

std::string batch(const std::vector<message>& messages) {
    std::string body;
    append_batch(body, batch_of(messages));
    return body;
}

TEST(wire_server, hands_on_a_message_and_signs_what_came_of_it) {
    server_rig rig;
    const auto request = rig.signed_request(one_message());
    const auto reply = rig.ask(request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(rig.is_believed(reply, request));
    EXPECT_EQ(*read_answer(reply.body),
              (wire_answer{.acknowledged = true, .payload = R"({"ok":true})"}));
    ASSERT_EQ(rig.to.seen.size(), 1U);
    EXPECT_EQ(rig.to.seen[0].id, wire_message(1).id);
    EXPECT_EQ(rig.to.seen[0].destination, "stock");
}

TEST(wire_server, answers_each_message_of_a_batch_in_its_order) {
    server_rig rig;
    rig.to.answer = [](const message& what) {
        if (what.id == wire_message(2).id)
            return delivery{
                .what = outcome::undeliverable, .error = "none", .code = error_code::no_handler};
        return delivery{.what = outcome::delivered, .duplicate = true};
    };
    auto body = batch({wire_message(1), wire_message(2)});
    body.insert(body.size() - 2, ",{\"bad\":1}");
    const auto request = rig.signed_request(body, receive_batch_path);
    const auto reply = rig.ask(request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(rig.is_believed(reply, request));
    const auto results = read_answers(reply.body);
    ASSERT_TRUE(results);
    ASSERT_EQ(results->size(), 3U);
    EXPECT_EQ(
        (*results)[0],
        (wire_answer{
            .status = 200, .id = wire_message(1).id, .acknowledged = true, .duplicate = true}));
    EXPECT_EQ((*results)[1].status, 404);
    EXPECT_EQ((*results)[1].code, "no_handler");
    EXPECT_EQ((*results)[2].status, 400);
    EXPECT_EQ((*results)[2].code, "malformed_request");
    EXPECT_EQ(rig.to.calls, 1) << "they share a commit";
    EXPECT_EQ(rig.server.counts().malformed, 1U);
}

TEST(wire_server, an_empty_batch_has_no_results) {
    server_rig rig;
    EXPECT_EQ(rig.ask(rig.signed_request(R"({"messages":[]})", receive_batch_path)).body,
              R"({"results":[]})");
    EXPECT_EQ(rig.to.calls, 0);
}

struct attack {
    std::string_view name;
    std::function<void(server_rig&, wire_request&)> with;
};

TEST(wire_server, hands_on_nothing_that_is_not_signed_for_it) {
    const attack attacks[] = {
        {"unsigned", [](server_rig&, wire_request& it) { it.signature = {}; }},
        {"body changed", [](server_rig&, wire_request& it) { it.body[it.body.size() - 1] = ' '; }},
        {"path changed",
         [](server_rig&, wire_request& it) { it.path = std::string(receive_batch_path); }},
        {"another path",
         [](server_rig& rig, wire_request& it) {
             it.path = "/_rf/other";
             rig.sign_again(it);
         }},
        {"content type changed",
         [](server_rig&, wire_request& it) { it.content_type = "text/plain"; }},
        {"unknown source",
         [](server_rig& rig, wire_request& it) { rig.sign_again(it, {"nobody", "stock"}); }},
        {"for another service",
         [](server_rig& rig, wire_request& it) { rig.sign_again(it, {"orders", "billing"}); }},
        {"too old", [](server_rig& rig, wire_request&) { rig.loop.time().advance(5min + 1s); }},
        {"in the future",
         [](server_rig& rig, wire_request&) { rig.loop.time().jump_wall(-(5min + 1s)); }},
        {"revoked key",
         [](server_rig& rig, wire_request&) {
             auto key = wire_key('k');
             key.revoked = true;
             rig.keys.replace(rings_of("orders", {key, wire_key('n')}));
         }},
        {"message of another source",
         [](server_rig& rig, wire_request& it) {
             auto other = wire_message(1);
             other.source = "billing";
             it.body.clear();
             append_envelope(it.body, other);
             rig.sign_again(it);
         }},
    };
    for (const auto& one : attacks) {
        server_rig rig;
        auto request = rig.signed_request(one_message());
        one.with(rig, request);
        const auto reply = rig.ask(request);
        EXPECT_EQ(reply.status, 401) << one.name;
        EXPECT_EQ(reply.signature, signature_headers{}) << one.name;
        EXPECT_EQ(read_answer(reply.body)->code, "bad_signature") << one.name;
        EXPECT_EQ(rig.to.calls, 0) << one.name;
        EXPECT_EQ(rig.server.counts().bad_signatures, 1U) << one.name;
    }
}

TEST(wire_server, an_answer_cannot_be_sent_back_as_a_request) {
    server_rig rig;
    rig.keys.replace(rings_of("stock", {wire_key('k')}));  // It even knows itself.
    const auto body = one_message();
    wire_request reflected{.path = std::string(receive_path), .body = body};
    reflected.signature =
        *sign(key_ring({wire_key('k')}), {"stock", "stock"},
              {reflected.path, reflected.content_type, body, "hmac", 200}, rig.loop.time().wall());
    EXPECT_EQ(rig.ask(reflected).status, 401);
}

TEST(wire_server, one_message_of_another_source_spoils_its_batch) {
    server_rig rig;
    auto foreign = wire_message(2);
    foreign.source = "billing";
    const auto reply =
        rig.ask(rig.signed_request(batch({wire_message(1), foreign}), receive_batch_path));
    EXPECT_EQ(reply.status, 401);
    EXPECT_EQ(rig.to.calls, 0);
}

TEST(wire_server, logs_the_documents_line_without_the_payload) {
    server_rig rig;
    auto request = rig.signed_request(one_message());
    request.body.replace(request.body.find("\"payload\":1"), 11, "\"payload\":\"canary\"");
    rig.ask(request);
    ASSERT_EQ(rig.log.lines().size(), 1U);
    const auto& line = rig.log.lines()[0];
    EXPECT_NE(line.find("[WRN] Inbox:  HMAC verification failed for "
                        "01020304-0506-0708-090a-0b0c0d0e0f01 from orders"),
              std::string::npos)
        << line;
    EXPECT_EQ(line.find("canary"), std::string::npos);
}

TEST(wire_server, logs_unknown_where_nothing_is_known) {
    server_rig rig;
    rig.ask({.path = std::string(receive_path), .body = R"({"messageId":"evil\n"})"});
    ASSERT_EQ(rig.log.lines().size(), 1U);
    EXPECT_NE(rig.log.lines()[0].find("failed for unknown from unknown"), std::string::npos);
}

TEST(wire_server, a_flood_of_bad_requests_does_not_fill_the_log) {
    server_rig rig;
    for (int i = 0; i < 100; ++i) rig.ask({.path = std::string(receive_path)});
    EXPECT_EQ(rig.log.lines().size(), 20U);
    rig.loop.time().advance(1s);
    rig.ask({.path = std::string(receive_path)});
    EXPECT_NE(rig.log.lines().back().find("HeldBack=80"), std::string::npos)
        << rig.log.lines().back();
    EXPECT_EQ(rig.server.counts().bad_signatures, 101U);
}

TEST(wire_server, refuses_what_is_no_message_under_its_signature) {
    struct one_case {
        std::string body;
        std::string_view path;
        std::uint16_t status;
        std::string_view code;
    };
    const one_case cases[] = {
        {"nonsense", receive_path, 400, "malformed_request"},
        {"{}", receive_path, 400, "malformed_request"},
        {"{}", receive_batch_path, 400, "malformed_request"},
        {R"({"messages":[1,2,3,4]})", receive_batch_path, 413, "message_too_large"},
    };
    for (const auto& one : cases) {
        server_rig rig({.service = "stock", .messages_max = 3});
        const auto request = rig.signed_request(one.body, one.path);
        const auto reply = rig.ask(request);
        EXPECT_EQ(reply.status, one.status) << one.body;
        EXPECT_EQ(read_answer(reply.body)->code, one.code);
        EXPECT_TRUE(rig.is_believed(reply, request));
        EXPECT_EQ(rig.to.calls, 0);
    }
}

TEST(wire_server, sheds_what_it_has_no_room_for) {
    server_rig rig({.service = "stock", .requests_at_work_max = 1});
    rig.to.hold = [&]() -> task<> { co_await rig.loop.time().sleep_for(5s); };
    const auto first = rig.signed_request(one_message(1));
    auto slow = start(rig.loop.executor(), rig.server.answer(first));
    rig.loop.run_for(1s);
    const auto second = rig.signed_request(one_message(2));
    const auto reply = rig.ask(second);
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.retry_after, 1s);
    EXPECT_EQ(read_answer(reply.body)->code, "overloaded");
    EXPECT_TRUE(rig.is_believed(reply, second));
    EXPECT_EQ(rig.ask({.path = std::string(receive_path)}).signature, signature_headers{});
    EXPECT_EQ(rig.server.counts().overloaded, 2U);
    rig.loop.run_for(10s);
    EXPECT_EQ(slow.get().status, 200);
    rig.to.hold = {};
    EXPECT_EQ(rig.ask(second).status, 200) << "there is room again";
}

TEST(wire_server, an_exception_is_a_failure_to_be_tried_again) {
    server_rig rig;
    rig.to.answer = [](const message&) -> delivery { throw std::runtime_error("broke"); };
    const auto request = rig.signed_request(one_message());
    const auto reply = rig.ask(request);
    EXPECT_EQ(reply.status, 500);
    EXPECT_TRUE(rig.is_believed(reply, request));
}

TEST(wire_server, a_pause_is_told_inside_and_outside) {
    server_rig rig;
    rig.to.answer = [](const message&) {
        return delivery{.what = outcome::throttled, .error = "at work", .retry_after = 3s};
    };
    const auto reply = rig.ask(rig.signed_request(one_message()));
    EXPECT_EQ(reply.status, 425);
    EXPECT_EQ(reply.retry_after, 3s);
    EXPECT_EQ(read_answer(reply.body)->retry_after, 3s);
}

TEST(wire_server, responses_that_do_not_fit_one_answer_are_asked_for_again) {
    server_rig rig({.service = "stock", .answer_payload_bytes_max = 100});
    rig.to.answer = [](const message& what) {
        const bool is_small = what.id == wire_message(3).id;
        return delivery{.what = outcome::delivered,
                        .payload = is_small ? "" : std::string(98, '1')};
    };
    const auto results = read_answers(
        rig.ask(rig.signed_request(batch({wire_message(1), wire_message(2), wire_message(3)}),
                                   receive_batch_path))
            .body);
    ASSERT_TRUE(results);
    EXPECT_TRUE((*results)[0].acknowledged);
    EXPECT_FALSE((*results)[1].acknowledged);
    EXPECT_EQ((*results)[1].status, 425);
    EXPECT_TRUE((*results)[1].retry_after);
    EXPECT_TRUE((*results)[2].acknowledged) << "it has nothing that would not fit";
}

TEST(wire_server, takes_what_is_meant_for_one_of_its_urls_and_answers_in_that_name) {
    const std::string url = "https://stock.example:7400";
    server_rig rig({.service = "stock", .urls = {"https://other.example", url}});
    auto request = rig.signed_request(one_message());
    rig.sign_again(request, {"orders", url});
    EXPECT_FALSE(rig.server.refuse_by_head(request));
    const auto reply = rig.ask(request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(
        verify(key_ring({wire_key('k')}), {url, "orders"}, reply.signature,
               {request.path, reply.content_type, reply.body, request.signature.hmac, reply.status},
               rig.loop.time().wall()));
    ASSERT_EQ(rig.to.seen.size(), 1U);
    EXPECT_EQ(rig.to.seen[0].destination, "stock");
    const auto by_id = rig.signed_request(one_message(2));
    EXPECT_TRUE(rig.is_believed(rig.ask(by_id), by_id)) << "its id still counts";
}

TEST(wire_server, refuses_what_is_meant_for_a_url_that_is_not_among_its_own) {
    server_rig rig({.service = "stock", .urls = {"https://stock.example"}});
    for (const std::string_view url :
         {"https://stock.example/", "https://stock.example:443", "http://stock.example"}) {
        auto request = rig.signed_request(one_message());
        rig.sign_again(request, {"orders", url});
        const auto reply = rig.ask(request);
        EXPECT_EQ(reply.status, 401) << url;
        EXPECT_NE(reply.body.find("service.urls"), std::string::npos) << reply.body;
        EXPECT_TRUE(rig.server.refuse_by_head(request)) << url;
    }
    EXPECT_EQ(rig.to.calls, 0);
}

TEST(wire_server, answers_unsigned_if_no_key_may_sign) {
    server_rig rig;
    auto key = wire_key('k');
    key.signs_from = rig.loop.time().wall() + 1h;
    rig.keys.replace(rings_of("orders", {key}));
    const auto reply = rig.ask(rig.signed_request(one_message()));
    EXPECT_EQ(reply.signature, signature_headers{});
    EXPECT_EQ(rig.to.calls, 1);
    ASSERT_FALSE(rig.log.lines().empty());
}

}  // namespace
}  // namespace posthorn
