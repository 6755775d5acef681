#include "transport/wire/legacy.hpp"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "security/x_workflow.hpp"
#include "transport/wire/wire_transport.hpp"
#include "unit/transport/wire/wire_rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

key_ring ring_of(char key, signature_scheme scheme) { return key_ring({wire_key(key)}, scheme); }

/// A server of stock with a peer in each scheme.
struct legacy_rig : server_rig {
    legacy_rig() {
        peer_keys::rings rings;
        const auto add = [&](std::string peer, char key, signature_scheme scheme) {
            rings.emplace(std::move(peer), std::make_shared<const key_ring>(ring_of(key, scheme)));
        };
        add("orders", 'k', signature_scheme::v2);
        add("crm", 'c', signature_scheme::rf_hmac);
        add("engine", 'e', signature_scheme::x_workflow);
        keys.replace(std::move(rings));
    }
    /// A message from `source`, signed with the key as the scheme has it.
    [[nodiscard]] wire_request from(std::string source, char key, signature_scheme scheme,
                                    std::uint8_t number = 1) {
        auto what = wire_message(number);
        what.source = std::move(source);
        what.created_at = loop.time().wall();
        what.expires_at = what.created_at + 24h;
        return *write_legacy(what, ring_of(key, scheme), loop.time().wall());
    }
};

TEST(wire_legacy, takes_in_what_a_peer_signs_in_its_own_scheme_and_signs_no_answer) {
    legacy_rig rig;
    for (const auto& request : {rig.from("crm", 'c', signature_scheme::rf_hmac),
                                rig.from("engine", 'e', signature_scheme::x_workflow)}) {
        const auto reply = rig.ask(request);
        EXPECT_EQ(reply.status, 200) << reply.body;
        EXPECT_EQ(reply.signature, signature_headers{});
        EXPECT_THAT(reply.body, HasSubstr(R"("acknowledged":true)"));
    }
    ASSERT_EQ(rig.to.seen.size(), 2U);
    EXPECT_EQ(rig.to.seen[0].source, "crm");
    EXPECT_EQ(rig.to.seen[1].source, "engine");
}

TEST(wire_legacy, a_peer_speaks_in_nobody_elses_name_and_in_no_other_scheme) {
    using enum signature_scheme;
    legacy_rig rig;
    const wire_request attacks[] = {
        rig.from("orders", 'c', rf_hmac),     // Its own key, the name of one with v2.
        rig.from("orders", 'k', rf_hmac),     // The right key, in a weaker scheme.
        rig.from("orders", 'k', x_workflow),  //
        rig.from("engine", 'c', rf_hmac),     // The name of another one on an older scheme.
        rig.from("engine", 'c', x_workflow),  //
        rig.from("crm", 'e', x_workflow),     //
        rig.from("crm", 'c', x_workflow),     // The right key and name, in the wrong scheme.
        rig.from("engine", 'e', rf_hmac),     //
        rig.from("unknown", 'c', rf_hmac),    //
    };
    for (const auto& attack : attacks) {
        const auto reply = rig.ask(attack);
        EXPECT_EQ(reply.status, 401) << attack.body;
    }
    EXPECT_EQ(rig.to.calls, 0);
    EXPECT_EQ(rig.server.counts().bad_signatures, std::size(attacks));
}

TEST(wire_legacy, a_signature_of_v2_does_not_count_for_a_peer_on_another_scheme) {
    legacy_rig rig;
    auto request = rig.from("crm", 'c', signature_scheme::rf_hmac);
    request.signature =
        *sign(key_ring({wire_key('c')}), {"crm", "stock"},
              {request.path, request.content_type, request.body}, rig.loop.time().wall());
    EXPECT_EQ(rig.ask(request).status, 401);
    EXPECT_EQ(rig.to.calls, 0);
}

TEST(wire_legacy, a_command_at_its_endpoint_is_from_whoever_signed_it) {
    legacy_rig rig;
    wire_request request{
        .path = "/api/_workflow/inbox/Order%20Approved",
        .body = R"({"CommandId":"0199f3a0-5b7c-7d11-8a4e-3f1f7a7e0001","Payload":{"a":1}})"};
    EXPECT_EQ(rig.ask(request).status, 401);
    const auto sign = [&](char key) {
        request.workflow_signature = *sign_x_workflow(ring_of(key, signature_scheme::x_workflow),
                                                      request.body, rig.loop.time().wall());
    };
    for (const char stranger : {'c', 'k', 'x'}) {
        sign(stranger);
        EXPECT_EQ(rig.ask(request).status, 401);
    }
    EXPECT_EQ(rig.to.calls, 0);
    sign('e');
    EXPECT_EQ(rig.ask(request).status, 200);
    ASSERT_EQ(rig.to.seen.size(), 1U);
    EXPECT_EQ(rig.to.seen[0].source, "engine");
    EXPECT_EQ(rig.to.seen[0].endpoint, "Order Approved");
    EXPECT_EQ(rig.to.seen[0].payload, R"({"a":1})");

    rig.loop.run_for(5min + 1s);
    EXPECT_EQ(rig.ask(request).status, 401) << "a replay outside of the window";
}

TEST(wire_legacy, what_may_pass_is_no_end_for_a_peer_that_takes_every_4xx_for_one) {
    legacy_rig rig;
    rig.to.answer = [](const message&) {
        return delivery{
            .what = outcome::undeliverable, .error = "none", .code = error_code::no_handler};
    };
    EXPECT_EQ(rig.ask(rig.from("engine", 'e', signature_scheme::x_workflow)).status, 503);
    EXPECT_EQ(rig.ask(rig.from("crm", 'c', signature_scheme::rf_hmac)).status, 503);
    rig.to.answer = [](const message&) {
        return delivery{.what = outcome::throttled, .retry_after = 2s};
    };
    const auto busy = rig.ask(rig.from("engine", 'e', signature_scheme::x_workflow));
    EXPECT_EQ(busy.status, 503);
    EXPECT_EQ(busy.retry_after, 2s);
}

TEST(wire_server, a_peer_with_a_certificate_speaks_in_no_other_name) {
    legacy_rig rig;
    using names = std::vector<std::string>;
    std::string body;
    append_envelope(body, wire_message(1));
    auto request = rig.signed_request(body);
    for (const auto& shown : {names{}, names{"crm", "order"}}) {
        request.certified = shown;
        EXPECT_EQ(rig.ask(request).status, 401);
    }
    auto old = rig.from("crm", 'c', signature_scheme::rf_hmac);
    old.certified = names{"orders"};
    EXPECT_EQ(rig.ask(old).status, 401);
    auto command = rig.from("engine", 'e', signature_scheme::x_workflow);
    command.certified = names{"orders"};
    EXPECT_EQ(rig.ask(command).status, 401);
    EXPECT_EQ(rig.to.calls, 0);
    request.certified = names{"host.example", "orders"};
    old.certified = names{"crm"};
    command.certified = names{"engine"};
    for (const auto& good : {request, old, command}) EXPECT_EQ(rig.ask(good).status, 200);
}

TEST(wire_legacy, what_is_changed_on_the_way_is_refused_as_far_as_it_is_signed) {
    legacy_rig rig;
    const auto change = [&](wire_request request, std::string_view from, std::string_view to) {
        const auto at = request.body.find(from);
        EXPECT_NE(at, std::string::npos);
        request.body.replace(at, from.size(), to);
        return rig.ask(request).status;
    };
    const auto crm = rig.from("crm", 'c', signature_scheme::rf_hmac);
    EXPECT_EQ(change(crm, R"("payload":1)", R"("payload":2)"), 401);
    EXPECT_EQ(change(crm, R"("endpoint":"E")", R"("endpoint":"F")"), 401);
    const auto engine = rig.from("engine", 'e', signature_scheme::x_workflow);
    EXPECT_EQ(change(engine, R"("Signal")", R"("Command")"), 401);
    EXPECT_EQ(rig.to.calls, 0);
    EXPECT_EQ(change(crm, R"("Signal")", R"("Command")"), 200) << "the page warns of it";
}

TEST(wire_legacy, what_rf_hmac_does_not_sign_is_not_believed) {
    legacy_rig rig;
    auto what = wire_message(1);
    what.source = "crm";
    what.created_at = rig.loop.time().wall();
    what.expires_at = what.created_at + 24h;
    what.tenant = "north";
    what.order_key = "o1";
    what.parent_id = what.causation_id = wire_message(2).id;
    what.headers = R"({"x-colour":"blue","traceparent":)"
                   R"("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})";
    for (const auto scheme : {signature_scheme::rf_hmac, signature_scheme::x_workflow}) {
        const bool is_signed = scheme == signature_scheme::x_workflow;
        what.source = is_signed ? "engine" : "crm";
        what.id = wire_message(is_signed ? 3 : 1).id;
        const auto request =
            *write_legacy(what, ring_of(is_signed ? 'e' : 'c', scheme), rig.loop.time().wall());
        EXPECT_EQ(rig.ask(request).status, 200);
        const auto& seen = rig.to.seen.back();
        EXPECT_EQ(seen.tenant, is_signed ? "north" : "");
        EXPECT_EQ(seen.order_key, is_signed ? "o1" : "");
        EXPECT_EQ(seen.parent_id.has_value(), is_signed);
        EXPECT_EQ(seen.causation_id.has_value(), is_signed);
        EXPECT_EQ(seen.headers.find("x-colour") != std::string::npos, is_signed);
        EXPECT_THAT(seen.headers, HasSubstr("00-0af7651916cd43dd8448eb211c80319c"));
    }
}

TEST(wire_legacy, a_replay_outside_of_the_window_is_refused) {
    legacy_rig rig;
    const auto engine = rig.from("engine", 'e', signature_scheme::x_workflow);
    rig.loop.run_for(5min + 1s);
    EXPECT_EQ(rig.ask(engine).status, 401);

    auto what = wire_message(1);
    what.source = "crm";
    what.created_at = rig.loop.time().wall() + 6min;
    what.expires_at = what.created_at + 24h;
    const auto ahead =
        *write_legacy(what, ring_of('c', signature_scheme::rf_hmac), rig.loop.time().wall());
    EXPECT_EQ(rig.ask(ahead).status, 401) << "it would live longer than it may";
    EXPECT_EQ(rig.to.calls, 0);
}

TEST(wire_legacy, the_horizon_of_rf_hmac_is_one_that_the_inbox_remembers) {
    message what = wire_message(1);
    what.created_at = wall_time{} + 1000h;
    what.expires_at = what.created_at + 5000h;
    limit_life(what, signature_scheme::rf_hmac);
    EXPECT_EQ(what.expires_at, wall_time{} + 1047h);
    what.expires_at = what.created_at + 24h;
    limit_life(what, signature_scheme::rf_hmac);
    EXPECT_EQ(what.expires_at, wall_time{} + 1024h) << "never lengthened";

    // The header that says when it was made can be forged, the id cannot.
    what.id = *uuid::parse("00000036-ee80-7d11-8a4e-3f1f7a7e0001");
    ASSERT_EQ(what.id.time(), wall_time{} + 1h);
    limit_life(what, signature_scheme::rf_hmac);
    EXPECT_EQ(what.expires_at, wall_time{} + 48h);

    // The time that stands for "never" lengthens nothing, however it comes about.
    what.expires_at = wall_time{};
    limit_life(what, signature_scheme::rf_hmac);
    EXPECT_EQ(what.expires_at, wall_time{} + 48h);
    what.created_at = wall_time{} - 47h;
    what.expires_at = wall_time{};
    limit_life(what, signature_scheme::rf_hmac);
    EXPECT_NE(what.expires_at, wall_time{});
    EXPECT_LT(what.expires_at, wall_time{} + 1s);
    what.created_at = wall_time{} + 1000h;

    what.expires_at = what.created_at + 5000h;
    limit_life(what, signature_scheme::x_workflow);
    EXPECT_EQ(what.expires_at, what.created_at + 5000h) << "there the whole body is signed";
}

TEST(wire_legacy, what_cannot_be_read_is_refused_by_name) {
    legacy_rig rig;
    for (const std::string_view body :
         {"", "{", "[]", R"({"messageId":"x"})",
          R"({"messageId":"1","MessageId":"2","sourceServiceId":"crm","endpoint":"E"})"}) {
        const auto reply = rig.ask({.path = std::string(receive_path), .body = std::string(body)});
        EXPECT_EQ(reply.status, 400) << body;
        EXPECT_THAT(reply.body, HasSubstr("malformed_request"));
    }
    EXPECT_EQ(rig.server.counts().malformed, 5U);
}

TEST(wire_legacy, is_not_even_read_where_no_peer_has_it) {
    server_rig rig;
    EXPECT_EQ(rig.ask({.path = std::string(receive_path), .body = "{"}).status, 401);
}

/// Remembers what it is asked, and answers as told.
class told_channel final : public wire_channel {
public:
    struct state {
        std::vector<wire_request> asked;
        std::deque<wire_reply> replies;
    };
    explicit told_channel(state& shared) : shared_(shared) {}

    task<result<wire_reply>> exchange(wire_request request) override {
        shared_.asked.push_back(std::move(request));
        auto reply = shared_.replies.front();
        if (shared_.replies.size() > 1) shared_.replies.pop_front();
        co_return reply;
    }

private:
    state& shared_;
};

struct sender_rig {
    explicit sender_rig(signature_scheme scheme) {
        peer_keys::rings rings;
        rings.emplace("stock", std::make_shared<const key_ring>(ring_of('k', scheme)));
        keys.replace(std::move(rings));
    }
    std::vector<delivery> send(const std::vector<message>& messages) {
        return loop.run(transport.deliver(batch_of(messages)));
    }
    delivery answered(std::uint16_t status, std::string body) {
        shared.replies = {{.status = status, .body = std::move(body)}};
        return send({wire_message(1)}).front();
    }

    virtual_loop loop;
    peer_keys keys;
    told_channel::state shared;
    wire_transport transport{std::make_unique<told_channel>(shared),
                             keys,
                             loop.time(),
                             {.source = "orders", .destination = "stock"}};
};

TEST(wire_legacy, sends_one_by_one_and_believes_what_is_not_signed) {
    for (const auto scheme : {signature_scheme::rf_hmac, signature_scheme::x_workflow}) {
        sender_rig rig(scheme);
        rig.shared.replies = {{.body = R"({"Acknowledged":true,"Payload":7})"}};
        const auto given = rig.send({wire_message(1, "{ \"a\": 1 }"), wire_message(2)});
        ASSERT_EQ(given.size(), 2U);
        for (const auto& one : given) {
            EXPECT_EQ(one.what, outcome::delivered);
            EXPECT_EQ(one.payload, "7");
        }
        ASSERT_EQ(rig.shared.asked.size(), 2U);
        const auto& asked = rig.shared.asked[0];
        EXPECT_EQ(asked.path,
                  scheme == signature_scheme::rf_hmac ? receive_path : "/api/_workflow/inbox/E");
        EXPECT_EQ(asked.signature, signature_headers{});
        EXPECT_THAT(asked.body, HasSubstr(R"("payload":{"a":1})")) << "compact";
        const bool in_body = asked.body.find("rf-hmac") != std::string::npos;
        EXPECT_EQ(in_body, scheme == signature_scheme::rf_hmac);
        EXPECT_EQ(asked.workflow_signature.empty(), in_body);
    }
}

TEST(wire_legacy, takes_an_answer_as_the_scheme_has_it) {
    using enum outcome;
    sender_rig old(signature_scheme::rf_hmac);
    EXPECT_EQ(old.answered(200, R"({"acknowledged":true})").what, delivered);
    EXPECT_EQ(old.answered(200, R"({"duplicateDetected":true})").what, delivered);
    EXPECT_EQ(old.answered(200, R"({"acknowledged":false})").what, transient);
    EXPECT_EQ(old.answered(200, "").what, transient) << "it has words for it";
    EXPECT_EQ(old.answered(500, R"({"acknowledged":false,"error":"no"})").what, transient);
    EXPECT_EQ(old.answered(400, "Bad Request").what, permanent);
    EXPECT_EQ(old.answered(401, "").what, transient);
    EXPECT_EQ(old.answered(503, "<html>").what, transient);
    sender_rig workflow(signature_scheme::x_workflow);
    EXPECT_EQ(workflow.answered(200, "").what, delivered) << "a status is all it has";
    EXPECT_EQ(workflow.answered(204, "").what, delivered);
    EXPECT_EQ(workflow.answered(200, "OK").what, delivered);
    EXPECT_EQ(workflow.answered(302, "").what, transient);
    EXPECT_EQ(workflow.answered(422, "no").what, permanent);
    EXPECT_EQ(workflow.answered(500, "").what, transient);
}

TEST(wire_legacy, without_a_key_in_force_nothing_is_sent) {
    sender_rig rig(signature_scheme::rf_hmac);
    auto revoked = wire_key('k');
    revoked.revoked = true;
    peer_keys::rings rings;
    rings.emplace(
        "stock", std::make_shared<const key_ring>(std::vector{revoked}, signature_scheme::rf_hmac));
    rig.keys.replace(std::move(rings));
    EXPECT_EQ(rig.send({wire_message(1)}).front().what, outcome::undeliverable);
    EXPECT_TRUE(rig.shared.asked.empty());
}

}  // namespace
}  // namespace posthorn
