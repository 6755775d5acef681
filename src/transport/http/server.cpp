#include "transport/http/server.hpp"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "transport/http/session.hpp"

namespace posthorn {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// How long to leave a system alone that has no socket left for us.
constexpr auto accept_pause = std::chrono::milliseconds(100);
// Beyond the limit, where every connection is a known caller's: one that comes to show its key, or to
// ask for health, must get in.
constexpr std::size_t places_for_new = 8;

constexpr std::string_view busy_response =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    "Content-Length: 0\r\n\r\n";

// Written in one go: a new socket always has room for so little, and we do not wait for it.
void turn_away(tcp::socket& socket) {
    boost::system::error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(busy_response), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
}

std::string_view advice_for(const boost::system::error_code& failure) {
    if (failure == asio::error::address_in_use)
        return "stop the program that listens there, or choose another port (0 is any free one)";
    if (failure == asio::error::access_denied)
        return "ports below 1024 need a privilege; choose a higher one";
    return "choose an address of this machine, such as 127.0.0.1 or 0.0.0.0";
}

boost::system::error_code open(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
    boost::system::error_code failure;
    acceptor.open(endpoint.protocol(), failure);
    // Otherwise a restart would have to wait until the system forgets old connections.
    if (!failure) acceptor.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor.bind(endpoint, failure);
    if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
    return failure;
}

}  // namespace

result<std::unique_ptr<http_server>> http_server::listen(const host_port& address,
                                                         http_server_deps with) {
    boost::system::error_code failure;
    const auto ip =
        asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, failure);
    tcp::acceptor acceptor(with.env.network);
    if (!failure) failure = open(acceptor, tcp::endpoint(ip, address.port));
    if (failure)
        return fail(error_code::address_unavailable, "cannot listen on {}: {}; {}",
                    to_string(address), failure.message(), advice_for(failure));
    host_port bound{address.host, acceptor.local_endpoint().port()};
    return std::unique_ptr<http_server>(
        new http_server(std::move(with), std::move(acceptor), std::move(bound)));
}

http_server::http_server(http_server_deps with, tcp::acceptor acceptor, host_port address)
    : with_(std::move(with)),
      acceptor_(std::move(acceptor)),
      address_(std::move(address)),
      tasks_(with_.env.network) {}

http_server::~http_server() = default;

std::string http_server::url() const {
    return fmt::format("{}://{}", with_.tls != nullptr ? "https" : "http", to_string(address_));
}

void http_server::start() { tasks_.spawn(accept()); }

task<> http_server::stop(std::chrono::milliseconds patience) {
    using namespace asio::experimental::awaitable_operators;
    if (std::exchange(stopping_, true)) {
        // A second caller may destroy us when it is told, so it waits as the first one does.
        if (stopped_) co_return;
        const auto turn = waiting_for_stop_.emplace_back(waiter::make());
        co_return co_await turn->wait_regardless();
    }
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    for (http_session* session : sessions_) session->stop();
    // `join` heeds no cancellation, so the whole waits until the last session has ended.
    co_await (tasks_.join() || cut_off_after(patience));
    stopped_ = true;
    for (const auto& one : waiting_for_stop_) one->wake();
}

task<> http_server::cut_off_after(std::chrono::milliseconds patience) {
    if (co_await with_.env.timer.sleep_for(patience)) cut_off();
}

void http_server::cut_off() {
    for (http_session* session : sessions_) session->cut_off();
    tasks_.cancel();
}

task<> http_server::accept() {
    while (!stopping_) {
        auto [failure, socket] =
            co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
        if (stopping_) break;
        if (failure) {
            if (const auto held_back = accept_lines_.admit(with_.env.clock.steady()))
                with_.env.log.warn("Cannot accept on {Address}: {Reason}",
                                   {{"Address", to_string(address_)},
                                    {"Reason", failure.message()},
                                    {"HeldBack", *held_back}});
            if (frees_files_after(failure)) continue;
            if (!co_await with_.env.timer.sleep_for(accept_pause)) break;
        } else {
            admit(std::move(socket));
        }
    }
}

void http_server::admit(tcp::socket socket) {
    // Nothing can be said in clear where TLS is spoken; closing must do.
    if (sessions_.size() >= with_.limits.connections_max && !give_way() &&
        sessions_.size() >= with_.limits.connections_max + places_for_new)
        return with_.tls == nullptr ? turn_away(socket) : void();
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    http_stream stream(http_stream::tcp_stream(std::move(socket)),
                       with_.tls == nullptr ? nullptr : with_.tls->current());
    auto session = std::make_unique<http_session>(
        std::move(stream),
        http_session_deps{with_.handler, with_.refuses, with_.limits, with_.env.log,
                          [this](http_session& reader) { bound_bodies(reader); }});
    sessions_.push_back(session.get());
    tasks_.spawn(serve(std::move(session)));
}

// Ends the connection that is the least loss, the oldest of its kind; false if all are of known
// callers.
bool http_server::give_way() {
    using standing = http_session::standing;
    const auto loss = [](const http_session* each) {
        // It has its answer, and would only be spared a new connection.
        const bool only_rests = each->seen() == standing::sent_request && each->is_idle();
        return only_rests ? -1 : static_cast<int>(each->seen());
    };
    const auto least = std::ranges::min_element(sessions_, {}, loss);
    if (least == sessions_.end() || (*least)->seen() == http_session::standing::known) return false;
    http_session* const slow = *least;
    sessions_.erase(least);
    slow->cut_off();
    return true;
}

// What strangers have sent and not finished is in memory, so it is bounded together.
void http_server::bound_bodies(http_session& reader) {
    std::size_t held = 0;
    for (const auto* each : sessions_) held += each->unknown_body_bytes();
    for (auto* each : sessions_) {  // The oldest first.
        if (held <= with_.limits.unknown_body_bytes_max) return;
        if (each == &reader) continue;
        held -= each->unknown_body_bytes();
        if (each->unknown_body_bytes() > 0) each->cut_off();
    }
}

task<> http_server::serve(std::unique_ptr<http_session> session) {
    try {
        co_await session->run();
    } catch (const std::exception& failure) {
        // One connection's trouble, such as a response that cannot be written, is not the server's.
        with_.env.log.error("A connection to {Address} failed: {Reason}",
                            {{"Address", to_string(address_)}, {"Reason", failure.what()}});
    }
    sessions_.remove(session.get());
}

}  // namespace posthorn
