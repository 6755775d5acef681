#include "conformance/transport/socket_road.hpp"

#include <utility>

#include "base/async/task_group.hpp"
#include "transport/wire/wire_transport.hpp"

namespace posthorn::conformance {
namespace {

using direction = test::fault_proxy::direction;
using ending = test::fault_proxy::ending;

// Within the head of any request or answer.
constexpr std::size_t part_of_the_way = 40;
constexpr std::size_t piece_bytes = 60;

key_ring ring_of(char each) {
    const std::string bytes(32, each);
    return key_ring({make_key(secret(std::as_bytes(std::span(bytes))))});
}

// Both services have the same ring, each under the other's name.
peer_keys::rings rings_of(char each) {
    const auto ring = std::make_shared<const key_ring>(ring_of(each));
    peer_keys::rings both;
    both.emplace(sender, ring);
    both.emplace(destination, ring);
    return both;
}

}  // namespace

socket_road::socket_road(const road_parts& parts)
    : parts_(parts),
      keys_(rings_of('k')),
      wrong_keys_(rings_of('x')),
      server_({.to = parts.to, .keys = keys_, .time = clock_, .log = log_},
              {.service = std::string(destination)}) {}

void socket_road::open(test::socket_address proxy_at) {
    proxy_ = std::make_unique<test::fault_proxy>(std::move(proxy_at), listen());
}

void socket_road::close() {
    mend();
    start(parts_.threads.executor(), stop_peer(std::chrono::milliseconds(0))).get();
    proxy_.reset();
}

std::unique_ptr<transport> socket_road::connect(road_settings settings) {
    return std::make_unique<wire_transport>(
        make_channel(proxy_->address(), settings.patience),
        settings.wrong_secret ? wrong_keys_ : keys_, clock_,
        wire_transport_options{.source = std::string(sender),
                               .destination = std::string(destination)});
}

void socket_road::break_requests() {
    proxy_->cut(direction::to_server, part_of_the_way, ending::reset);
}
void socket_road::lose_answers() { proxy_->cut(direction::to_client, 0, ending::reset); }
void socket_road::truncate_answers() {
    proxy_->cut(direction::to_client, part_of_the_way, ending::end);
}
void socket_road::dribble() { proxy_->dribble(piece_bytes); }

void socket_road::mend() {
    proxy_->cut_no_more();
    proxy_->dribble(0);
    proxy_->release();
    proxy_->accept_again();
}

void socket_road::start_peer() { listen(); }

void socket_road::forge_answers(forgery how) {
    const std::scoped_lock lock(mutex_);
    forged_ = how;
}

task<wire_reply> socket_road::answer(wire_request request) {
    auto reply = co_await server_.answer(request);
    forge(reply, request);
    co_return reply;
}

void socket_road::forge(wire_reply& reply, const wire_request& request) {
    const std::scoped_lock lock(mutex_);
    switch (forged_) {
        case forgery::none: earlier_ = reply; return;
        case forgery::unsigned_answer: reply.signature = {}; return;
        case forgery::other_answer: reply = earlier_.value(); return;
        case forgery::other_key:
            reply.signature = sign(ring_of('x'), {destination, sender},
                                   {request.path, reply.content_type, reply.body,
                                    request.signature.hmac, reply.status},
                                   clock_.wall())
                                  .value();
            return;
        case forgery::other_status: reply.status = reply.status == 200 ? 422 : 200; return;
        case forgery::other_body:
            reply.body = R"({"acknowledged":true,"duplicateDetected":false,"payload":null,)"
                         R"("error":null})";
            return;
    }
}

}  // namespace posthorn::conformance
