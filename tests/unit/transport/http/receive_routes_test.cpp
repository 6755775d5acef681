#include "transport/http/receive_routes.hpp"

#include <gmock/gmock.h>

#include "transport/http/http_channel.hpp"
#include "transport/wire/wire_transport.hpp"
#include "unit/transport/http/http_fixture.hpp"
#include "unit/transport/wire/wire_rig.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(wire_over_http, reads_every_field_of_a_request) {
    http_request request;
    request.path = "/_rf/receive";
    request.headers = {{"Content-Type", "application/json"},
                       {"RF-Scheme", "v2"},
                       {"rf-key", "k"},
                       {"rf-source", "orders"},
                       {"rf-destination", "stock"},
                       {"rf-timestamp", "t"},
                       {"rf-hmac", "h"},
                       {"traceparent", "00-1-2-01"}};
    request.body = "{}";
    const auto incoming = read_wire_request(request);
    EXPECT_EQ(incoming.path, "/_rf/receive");
    EXPECT_EQ(incoming.content_type, "application/json");
    EXPECT_EQ(incoming.signature, (signature_headers{"v2", "k", "orders", "stock", "t", "h"}));
    EXPECT_EQ(incoming.traceparent, "00-1-2-01");
    EXPECT_EQ(incoming.body, "{}");
}

// A default would be signed for, though the peer has not signed it.
TEST(wire_over_http, takes_a_content_type_that_is_missing_for_an_empty_one) {
    EXPECT_EQ(read_wire_request({}).content_type, "");
}

TEST(wire_over_http, writes_every_field_of_a_reply) {
    const auto response = write_wire_reply({.status = 503,
                                            .content_type = "application/json",
                                            .signature = {"v2", "k", "stock", "orders", "t", "h"},
                                            .retry_after = 1001ms,
                                            .body = "{}"});
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.headers, (http_headers{{"Content-Type", "application/json"},
                                              {"rf-scheme", "v2"},
                                              {"rf-key", "k"},
                                              {"rf-source", "stock"},
                                              {"rf-destination", "orders"},
                                              {"rf-timestamp", "t"},
                                              {"rf-hmac", "h"},
                                              {"Retry-After", "2"}}));
    EXPECT_EQ(response.body, "{}");
}

TEST(wire_over_http, leaves_out_what_a_reply_does_not_say) {
    EXPECT_EQ(write_wire_reply({.status = 401}).headers,
              (http_headers{{"Content-Type", "application/json"}}));
}

class receive_routes : public test::http_fixture {
protected:
    ~receive_routes() override { finish(); }

    std::uint16_t listen_for_messages() {
        add_receive_routes(routes_, there_.server);
        return listen([this](http_request request) { return routes_.handle(std::move(request)); });
    }

    server_rig there_;
    router routes_;
};

TEST_F(receive_routes, bring_one_message_and_many_to_the_receiver_and_back) {
    auto channel = http_channel::open(client_parts(), url(listen_for_messages())).value();
    const peer_keys keys{rings_of("stock", {wire_key('k')})};
    wire_transport wire(std::move(channel), keys, there_.loop.time(),
                        {.source = "orders", .destination = "stock"});
    const std::vector<message> messages{wire_message(1), wire_message(2), wire_message(3)};
    const delivery taken{.what = outcome::delivered, .payload = R"({"ok":true})"};
    EXPECT_EQ(run(wire.deliver({&messages[0]})), std::vector{taken});
    EXPECT_EQ(run(wire.deliver({&messages[1], &messages[2]})), (std::vector{taken, taken}));
    EXPECT_EQ(there_.to.calls, 2);
    EXPECT_EQ(there_.to.seen.size(), 3U);
}

TEST_F(receive_routes, refuse_what_is_not_signed) {
    const auto reply =
        test::ask(listen_for_messages(),
                  "POST /_rf/receive HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(reply.status, 401);
    EXPECT_THAT(reply.body, HasSubstr("bad_signature"));
    EXPECT_TRUE(there_.to.seen.empty());
}

TEST_F(receive_routes, refuse_a_request_with_a_header_of_the_wire_twice) {
    const auto port = listen_for_messages();
    for (const std::string twice :
         {"rf-source: a\r\nRF-Source: a", "rf-new: 1\r\nrf-new: 2",
          "Content-Type: application/json\r\ncontent-type: application/json"}) {
        const auto reply = test::ask(port, "POST /_rf/receive HTTP/1.1\r\nHost: x\r\n" + twice +
                                               "\r\nContent-Length: 2\r\n\r\n{}");
        EXPECT_EQ(reply.status, 400) << twice;
        EXPECT_THAT(reply.body, HasSubstr("malformed_request")) << twice;
    }
    const auto others = test::ask(port,
                                  "POST /_rf/receive HTTP/1.1\r\nHost: x\r\nVia: a\r\nVia: b\r\n"
                                  "Content-Length: 2\r\n\r\n{}");
    EXPECT_EQ(others.status, 401);
    EXPECT_TRUE(there_.to.seen.empty());
}

TEST_F(receive_routes, are_for_post_alone) {
    const auto reply =
        test::ask(listen_for_messages(), "GET /_rf/receive-batch HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(reply.status, 405);
    EXPECT_THAT(reply.head, HasSubstr("Allow: POST\r\n"));
}

}  // namespace
}  // namespace posthorn
