#include "transport/wire/wire_transport.hpp"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "unit/transport/wire/wire_rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using enum outcome;

/// Brings requests to a real server, or to what a test puts in between.
class fake_channel final : public wire_channel {
public:
    explicit fake_channel(server_rig& rig) : rig_(rig) {}

    task<result<wire_reply>> exchange(wire_request request) override {
        requests.push_back(request);
        if (instead)
            if (auto reply = instead(request)) co_return *std::move(reply);
        auto reply = co_await rig_.server.answer(std::move(request));
        if (tamper) tamper(reply);
        co_return reply;
    }

    std::vector<wire_request> requests{};
    std::function<std::optional<result<wire_reply>>(const wire_request&)> instead{};
    std::function<void(wire_reply&)> tamper{};

private:
    server_rig& rig_;
};

struct transport_rig {
    explicit transport_rig(wire_transport_options options = {.source = "orders",
                                                             .destination = "stock"})
        : way(*new fake_channel(there)),
          wire(std::unique_ptr<wire_channel>(&way), keys, there.loop.time(), std::move(options)) {}

    std::vector<delivery> send(std::size_t count) {
        std::vector<message> messages;
        for (std::size_t i = 0; i < count; ++i)
            messages.push_back(wire_message(static_cast<std::uint8_t>(i + 1)));
        return deliver(messages);
    }
    std::vector<delivery> deliver(const std::vector<message>& messages) {
        auto given = there.loop.run(wire.deliver(batch_of(messages)));
        EXPECT_EQ(given.size(), messages.size());
        return given;
    }
    [[nodiscard]] std::vector<std::string> paths() const {
        std::vector<std::string> all;
        for (const auto& one : way.requests) all.push_back(one.path);
        return all;
    }

    server_rig there{};
    peer_keys keys{rings_of("stock", {wire_key('k')})};
    fake_channel& way;  // Owned by the transport.
    wire_transport wire;
};

void expect_all(const std::vector<delivery>& given, outcome what) {
    for (const auto& one : given) EXPECT_EQ(one.what, what) << one.error;
}

result<wire_reply> unsigned_reply(std::uint16_t status, std::string body = {}) {
    return wire_reply{.status = status, .body = std::move(body)};
}

TEST(wire_transport, brings_one_message_alone) {
    transport_rig rig;
    const auto given = rig.send(1);
    EXPECT_EQ(given[0], (delivery{.what = delivered, .payload = R"({"ok":true})"}));
    EXPECT_EQ(rig.paths(), std::vector<std::string>{"/_rf/receive"});
    EXPECT_EQ(rig.there.to.seen[0].id, wire_message(1).id);
}

TEST(wire_transport, brings_several_at_once_and_keeps_their_order) {
    transport_rig rig;
    rig.there.to.answer = [](const message& what) {
        return what.id == wire_message(2).id
                   ? delivery{.what = permanent, .error = "no"}
                   : delivery{.what = delivered, .payload = what.id.to_string().substr(34)};
    };
    const auto given = rig.send(3);
    EXPECT_EQ(rig.paths(), std::vector<std::string>{"/_rf/receive-batch"});
    EXPECT_EQ(given[0].payload, "\"01\"");
    EXPECT_EQ(given[1], (delivery{.what = permanent, .error = "no"}));
    EXPECT_EQ(given[2].payload, "\"03\"");
}

TEST(wire_transport, signs_with_the_keys_of_another_name_where_the_peer_has_none) {
    transport_rig rig(
        {.source = "orders", .destination = "stock", .keys_else = "https://stock.example"});
    rig.keys.replace(rings_of("https://stock.example", {wire_key('k')}));
    expect_all(rig.send(1), delivered);
    EXPECT_EQ(rig.way.requests[0].signature.destination, "stock");
    rig.keys.replace(rings_of("http://stock.example", {wire_key('k')}));
    expect_all(rig.send(1), undeliverable);
    auto both = rings_of("https://stock.example", {wire_key('x')});
    both.merge(rings_of("stock", {wire_key('k')}));
    rig.keys.replace(both);
    expect_all(rig.send(1), delivered);
}

TEST(wire_transport, an_empty_batch_needs_no_request) {
    transport_rig rig;
    EXPECT_TRUE(rig.send(0).empty());
    EXPECT_TRUE(rig.way.requests.empty());
}

TEST(wire_transport, splits_what_is_too_large_for_one_body) {
    transport_rig rig({.source = "orders", .destination = "stock", .batch_bytes_max = 1'000});
    std::vector<message> messages;
    for (const auto size : std::vector<std::size_t>{300, 300, 2'000, 300, 300, 300})
        messages.push_back(wire_message(static_cast<std::uint8_t>(messages.size() + 1),
                                        '"' + std::string(size, 'x') + '"'));
    expect_all(rig.deliver(messages), delivered);
    EXPECT_EQ(rig.there.to.seen.size(), 6U);
    EXPECT_TRUE(std::ranges::is_sorted(rig.there.to.seen, {}, &message::id));
    std::size_t large = 0;
    for (const auto& one : rig.way.requests) large += one.body.size() > 1'000;
    EXPECT_EQ(large, 1U) << "only the one that no batch can hold";
    EXPECT_LT(rig.way.requests.size(), 6U);
}

TEST(wire_transport, splits_by_count_too) {
    transport_rig rig({.source = "orders", .destination = "stock", .batch_messages_max = 2});
    expect_all(rig.send(5), delivered);
    EXPECT_EQ(rig.paths(), (std::vector<std::string>{"/_rf/receive-batch", "/_rf/receive-batch",
                                                     "/_rf/receive"}));
}

TEST(wire_transport, a_peer_without_batches_gets_single_messages_until_it_is_asked_again) {
    for (const auto status : std::vector<std::uint16_t>{404, 405, 501}) {
        transport_rig rig({.source = "orders", .destination = "stock", .batch_recheck = 5min});
        rig.way.instead = [&](const wire_request& request) {
            std::optional<result<wire_reply>> reply;
            if (request.path == receive_batch_path) reply = unsigned_reply(status, "not here");
            return reply;
        };
        expect_all(rig.send(2), delivered);
        EXPECT_EQ(rig.paths(),
                  (std::vector<std::string>{"/_rf/receive-batch", "/_rf/receive", "/_rf/receive"}));
        rig.way.requests.clear();
        rig.there.loop.time().advance(5min - 1ms);
        expect_all(rig.send(2), delivered);
        EXPECT_EQ(rig.paths(), (std::vector<std::string>{"/_rf/receive", "/_rf/receive"}));
        rig.way.requests.clear();
        rig.there.loop.time().advance(1ms);
        rig.way.instead = {};
        expect_all(rig.send(2), delivered);
        EXPECT_EQ(rig.paths(), std::vector<std::string>{"/_rf/receive-batch"});
    }
}

TEST(wire_transport, believes_no_answer_that_is_not_signed_for_this_request) {
    struct tampering {
        std::string_view name;
        std::function<void(wire_reply&)> with;
    };
    const tampering ways[] = {
        {"unsigned", [](wire_reply& it) { it.signature = {}; }},
        {"body changed", [](wire_reply& it) { it.body += ' '; }},
        {"status changed", [](wire_reply& it) { it.status = 422; }},
        {"status none", [](wire_reply& it) { it.status = 0; }},
        {"content type changed", [](wire_reply& it) { it.content_type = "x"; }},
        {"forged", [](wire_reply& it) { it.signature.hmac = std::string(43, 'A') + '='; }},
    };
    for (const auto& one : ways) {
        for (const auto count : std::vector<std::size_t>{1, 3}) {
            transport_rig rig;
            rig.way.tamper = one.with;
            expect_all(rig.send(count), unanswered);
            EXPECT_EQ(rig.way.requests.size(), 1U) << one.name;
        }
    }
}

TEST(wire_transport, believes_no_answer_to_an_earlier_request) {
    transport_rig rig;
    wire_reply first;
    rig.way.tamper = [&](wire_reply& it) { first = it; };
    expect_all(rig.send(1), delivered);
    rig.there.loop.time().advance(1ms);  // So that the next signature is another.
    rig.way.instead = [&](const wire_request&) { return std::optional<result<wire_reply>>(first); };
    expect_all(rig.send(1), unanswered);
}

TEST(wire_transport, an_unsigned_refusal_neither_buries_nor_settles) {
    for (const auto status : std::vector<std::uint16_t>{200, 400, 401, 409, 410, 422, 500}) {
        transport_rig rig;
        rig.way.instead = [&](const wire_request&) {
            return std::optional(
                unsigned_reply(status, R"({"acknowledged":true,"duplicateDetected":true})"));
        };
        expect_all(rig.send(1), unanswered);
        expect_all(rig.send(2), unanswered);
    }
}

TEST(wire_transport, heeds_an_unsigned_pause) {
    transport_rig rig;
    rig.way.instead = [](const wire_request&) {
        return std::optional<result<wire_reply>>(wire_reply{.status = 503, .retry_after = 7s});
    };
    for (const auto& one : rig.send(2)) {
        EXPECT_EQ(one.what, throttled);
        EXPECT_EQ(one.retry_after, 7s);
    }
}

TEST(wire_transport, without_a_secret_nothing_is_deliverable) {
    transport_rig rig;
    rig.keys.replace({});
    const auto given = rig.send(3);
    expect_all(given, undeliverable);
    EXPECT_EQ(given[2].code, error_code::secret_unavailable);
    EXPECT_NE(given[2].error.find("stock"), std::string::npos);
    EXPECT_TRUE(rig.way.requests.empty());
    rig.keys.replace(rings_of("stock", {wire_key('k')}));
    expect_all(rig.send(3), delivered);
}

TEST(wire_transport, a_broken_way_is_not_tried_for_the_rest) {
    transport_rig rig({.source = "orders", .destination = "stock", .batch_messages_max = 2});
    rig.way.instead = [](const wire_request&) {
        return std::optional<result<wire_reply>>(fail(error_code::unreachable, "refused"));
    };
    const auto given = rig.send(6);
    expect_all(given, unanswered);
    EXPECT_EQ(given[5].error, "unreachable: refused");
    EXPECT_EQ(rig.way.requests.size(), 1U);
}

TEST(wire_transport, an_exception_is_an_answer_for_each_message) {
    transport_rig rig;
    rig.way.instead = [](const wire_request&) -> std::optional<result<wire_reply>> {
        throw std::runtime_error("broke");
    };
    const auto given = rig.send(3);
    expect_all(given, unanswered);
    EXPECT_EQ(given[2].error, "broke");
}

/// A reply that stock has signed, whatever it says.
auto signed_by_peer(transport_rig& rig, std::uint16_t status, std::string body) {
    return [&rig, status, body](const wire_request& request) {
        wire_reply reply{.status = status, .body = body};
        reply.signature = *sign(
            key_ring({wire_key('k')}), {"stock", "orders"},
            {request.path, reply.content_type, reply.body, request.signature.hmac, reply.status},
            rig.there.loop.time().wall());
        return std::optional<result<wire_reply>>(std::move(reply));
    };
}

TEST(wire_transport, results_that_are_not_those_of_the_messages_count_for_nothing) {
    const auto yes = R"({"acknowledged":true,"status":200})";
    const auto other =
        R"({"messageId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001","acknowledged":true})";
    for (const auto& body :
         {fmt::format(R"({{"results":[{}]}})", yes),
          fmt::format(R"({{"results":[{},{},{}]}})", yes, yes, yes),
          fmt::format(R"({{"results":[{},{}]}})", yes, other), std::string(R"({"results":[]})"),
          std::string("{}"), std::string("nonsense"), std::string(R"({"acknowledged":true})")}) {
        transport_rig rig;
        rig.way.instead = signed_by_peer(rig, 200, body);
        expect_all(rig.send(2), transient);
    }
}

TEST(wire_transport, a_signed_answer_that_says_nothing_is_tried_again) {
    for (const std::string_view body : {"", "nonsense", "{}", R"({"acknowledged":false})"}) {
        transport_rig rig;
        rig.way.instead = signed_by_peer(rig, 200, std::string(body));
        expect_all(rig.send(1), transient);
    }
}

TEST(wire_transport, a_batch_that_is_refused_as_a_whole_buries_only_the_one_at_fault) {
    for (const bool is_signed : {true, false}) {
        transport_rig rig;
        rig.way.instead = [&](const wire_request& request) -> std::optional<result<wire_reply>> {
            if (request.path != receive_batch_path) return std::nullopt;
            if (!is_signed) return unsigned_reply(413);
            return signed_by_peer(rig, 400,
                                  R"({"error":"no","code":"malformed_request"})")(request);
        };
        rig.there.to.answer = [](const message& what) {
            return what.id == wire_message(2).id ? delivery{.what = permanent, .error = "bad"}
                                                 : delivery{.what = delivered};
        };
        const auto given = rig.send(3);
        EXPECT_EQ(given[0].what, delivered);
        EXPECT_EQ(given[1].what, permanent);
        EXPECT_EQ(given[2].what, delivered);
        rig.way.instead = {};
        rig.way.requests.clear();
        rig.send(2);
        EXPECT_EQ(rig.paths(), std::vector<std::string>{"/_rf/receive-batch"})
            << "the peer does know batches";
    }
}

TEST(wire_transport, a_message_that_cannot_be_written_out_is_buried_alone) {
    transport_rig rig;
    auto bad = wire_message(2);
    bad.tenant = "\xff";
    const auto given = rig.deliver({wire_message(1), bad, wire_message(3), wire_message(4)});
    EXPECT_EQ(given[0].what, delivered);
    EXPECT_EQ(given[1].what, permanent);
    EXPECT_EQ(given[2].what, delivered);
    EXPECT_EQ(given[3].what, delivered);
}

TEST(wire_transport, signs_each_attempt_anew) {
    transport_rig rig;
    rig.send(1);
    rig.there.loop.time().advance(10min);
    expect_all(rig.send(1), delivered);
    EXPECT_NE(rig.way.requests[0].signature.hmac, rig.way.requests[1].signature.hmac);
    EXPECT_EQ(rig.way.requests[0].body, rig.way.requests[1].body);
}

TEST(wire_transport, gives_the_trace_of_a_single_message) {
    transport_rig rig;
    auto traced = wire_message(1);
    const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    traced.headers = fmt::format(R"({{"a":1,"traceparent":"{}"}})", trace);
    rig.deliver({traced});
    EXPECT_EQ(rig.way.requests[0].traceparent, trace);
    for (const std::string_view bad :
         {R"({"traceparent":"00-x\r\nevil: 1"})", R"({"traceparent":17})", R"({"a":"traceparent"})",
          R"({"traceparent":""})"}) {
        traced.headers = bad;
        rig.deliver({traced});
        EXPECT_EQ(rig.way.requests.back().traceparent, "") << bad;
    }
}

/// One message that was prepared at a time of its own, so that its signature tells.
class prepared_message : public ::testing::Test {
protected:
    prepared_message() {
        rig_.wire.prepare(what_.front());
        pass(5ms);
    }
    void pass(std::chrono::milliseconds time) { rig_.there.loop.run_for(time); }
    std::string stamp_of_one_sent_now() {
        expect_all(rig_.deliver(what_), delivered);
        return rig_.way.requests.back().signature.timestamp;
    }
    transport_rig rig_;
    std::vector<message> what_{wire_message(1)};
};

TEST_F(prepared_message, is_sent_as_it_was_prepared_and_once) {
    EXPECT_TRUE(rig_.way.requests.empty());
    const auto first = stamp_of_one_sent_now();
    EXPECT_NE(first, stamp_of_one_sent_now());
    ASSERT_EQ(rig_.way.requests.size(), 2U);
    EXPECT_EQ(rig_.way.requests[0].body, rig_.way.requests[1].body);
    EXPECT_EQ(rig_.way.requests[0].traceparent, rig_.way.requests[1].traceparent);
}

TEST_F(prepared_message, is_signed_anew_when_it_has_waited) {
    pass(1s);
    const auto stamp = stamp_of_one_sent_now();
    EXPECT_EQ(stamp, stamp_of_one_sent_now());
}

TEST_F(prepared_message, is_signed_anew_when_the_keys_have_changed) {
    rig_.keys.replace(rings_of("stock", {wire_key('k')}));
    const auto stamp = stamp_of_one_sent_now();
    EXPECT_EQ(stamp, stamp_of_one_sent_now());
}

TEST_F(prepared_message, is_not_sent_in_place_of_another_or_of_several) {
    expect_all(rig_.deliver({wire_message(2)}), delivered);
    rig_.wire.prepare(what_.front());
    expect_all(rig_.deliver({wire_message(1), wire_message(2)}), delivered);
    ASSERT_EQ(rig_.there.to.seen.size(), 3U);
    EXPECT_EQ(rig_.there.to.seen[0].id, wire_message(2).id);
    EXPECT_EQ(rig_.paths().back(), "/_rf/receive-batch");
}

TEST_F(prepared_message, is_not_sent_in_place_of_one_that_has_its_id_and_says_something_else) {
    expect_all(rig_.deliver({wire_message(1, R"("else")")}), delivered);
    ASSERT_EQ(rig_.there.to.seen.size(), 1U);
    EXPECT_EQ(rig_.there.to.seen[0].payload, R"("else")");
}

TEST_F(prepared_message, that_cannot_be_written_out_is_refused_when_it_is_sent) {
    auto bad = wire_message(3);
    bad.tenant = "\xff";
    rig_.wire.prepare(bad);
    EXPECT_EQ(rig_.deliver({bad}).front().what, permanent);
    EXPECT_TRUE(rig_.way.requests.empty());
}

}  // namespace
}  // namespace posthorn
