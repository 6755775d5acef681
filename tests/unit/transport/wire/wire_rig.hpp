#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/virtual_loop.hpp"
#include "message/wire/envelope.hpp"
#include "transport/wire/exchange.hpp"
#include "transport/wire/peer_keys.hpp"
#include "transport/wire/wire_server.hpp"

namespace posthorn {

inline signing_key wire_key(char first) {
    std::string bytes(32, first);
    return make_key(secret(std::as_bytes(std::span(bytes))));
}

inline peer_keys::rings rings_of(std::string peer, std::vector<signing_key> keys) {
    peer_keys::rings made;
    made.emplace(std::move(peer), std::make_shared<const key_ring>(std::move(keys)));
    return made;
}

/// A message from orders to stock.
inline message wire_message(std::uint8_t number, std::string payload = "1") {
    message made;
    made.id = uuid({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, number});
    made.source = "orders";
    made.destination = "stock";
    made.endpoint = "E";
    made.payload = std::move(payload);
    return made;
}

inline message_batch batch_of(const std::vector<message>& messages) {
    message_batch made;
    for (const auto& one : messages) made.push_back(&one);
    return made;
}

/// Takes everything in, unless `answer` says something else.
class fake_receiver final : public receiver {
public:
    task<std::vector<delivery>> receive(message_batch batch) override {
        ++calls;
        std::vector<delivery> answers;
        for (const auto* one : batch) {
            seen.push_back(*one);
            answers.push_back(answer(*one));
        }
        if (hold) co_await hold();
        co_return answers;
    }

    std::function<delivery(const message&)> answer = [](const message&) {
        return delivery{.what = outcome::delivered, .payload = R"({"ok":true})"};
    };
    std::function<task<>()> hold{};
    std::vector<message> seen{};
    int calls = 0;
};

/// What came to a log.
class log_lines {
public:
    logger& log() { return logger_; }
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    std::vector<std::string> lines_;
    logger logger_{{.sink = [this](std::string_view line) { lines_.emplace_back(line); }},
                   [] { return wall_time{}; }};
};

/// A server of stock that shares a key with orders.
struct server_rig {
    explicit server_rig(wire_server_options options = {.service = "stock"})
        : server({.to = to, .keys = keys, .time = loop.time(), .log = log.log()},
                 std::move(options)) {}

    [[nodiscard]] wire_request signed_request(std::string body,
                                              std::string_view path = receive_path) {
        wire_request made{.path = std::string(path), .body = std::move(body)};
        sign_again(made);
        return made;
    }
    void sign_again(wire_request& it, signed_pair who = {"orders", "stock"}) {
        it.signature = *sign(key_ring({wire_key('k')}), who, {it.path, it.content_type, it.body},
                             loop.time().wall());
    }
    wire_reply ask(wire_request request) { return loop.run(server.answer(std::move(request))); }
    /// Whether orders would believe it.
    [[nodiscard]] bool is_believed(const wire_reply& reply, const wire_request& request) {
        return verify(key_ring({wire_key('k')}), {"stock", "orders"}, reply.signature,
                      {request.path, reply.content_type, reply.body, request.signature.hmac,
                       reply.status},
                      loop.time().wall())
            .has_value();
    }

    virtual_loop loop;
    fake_receiver to;
    peer_keys keys{rings_of("orders", {wire_key('k')})};
    log_lines log;
    wire_server server;
};

}  // namespace posthorn
