#include "transport/unix/unix_server.hpp"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/stat.h>

#include "transport/unix/peer_credentials.hpp"

namespace posthorn {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

// How long to leave a system alone that has no socket left for us.
constexpr auto accept_pause = milliseconds(100);
// A time-out may come late by this part of it, twice.
constexpr int time_steps = 8;

}  // namespace

result<std::unique_ptr<unix_server>> unix_server::listen(const std::string& path,
                                                         unix_server_deps with) {
    POSTHORN_LET(place, socket_place::claim(path, with.folder));
    protocol::acceptor acceptor(with.env.network);
    boost::system::error_code failure;
    acceptor.open(protocol(), failure);
    if (!failure) acceptor.bind(protocol::endpoint(path), failure);
    // No peer can connect before it listens. A closed directory keeps others out already; this
    // holds should it be opened later.
    if (!failure && ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0)
        failure.assign(errno, boost::system::system_category());
    if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
    if (failure)
        return fail(error_code::address_unavailable,
                    "cannot listen on {}: {}; choose a path on a local file system", path,
                    failure.message());
    return std::unique_ptr<unix_server>(
        new unix_server(std::move(with), std::move(place), std::move(acceptor)));
}

unix_server::unix_server(unix_server_deps with, socket_place place, protocol::acceptor acceptor)
    : with_(std::move(with)),
      place_(std::move(place)),
      path_(place_->path()),
      acceptor_(std::move(acceptor)),
      tasks_(with_.env.network),
      watch_(with_.env.network) {}

unix_server::~unix_server() = default;

std::string unix_server::url() const {
    return with_.pipe.empty() ? "unix://" + path_ : "pipe://" + with_.pipe;
}

void unix_server::start() {
    tasks_.spawn(accept());
    watch_.spawn(tell_the_time());
}

task<> unix_server::stop(milliseconds patience) {
    using namespace asio::experimental::awaitable_operators;
    if (std::exchange(stopping_, true)) {
        // A second caller may destroy us when it is told, so it waits as the first one does.
        if (stopped_) co_return;
        const auto turn = waiting_for_stop_.emplace_back(waiter::make());
        co_return co_await turn->wait_regardless();
    }
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    place_.reset();
    for (unix_session* session : sessions_) session->stop();
    // `join` heeds no cancellation, so the whole waits until the last session has ended.
    co_await (tasks_.join() || cut_off_after(patience));
    watch_.cancel();
    co_await watch_.join();
    stopped_ = true;
    for (const auto& one : waiting_for_stop_) one->wake();
}

task<> unix_server::cut_off_after(milliseconds patience) {
    if (co_await with_.env.timer.sleep_for(patience)) cut_off();
}

void unix_server::cut_off() {
    for (unix_session* session : sessions_) session->cut_off();
    tasks_.cancel();
}

task<> unix_server::accept() {
    while (!stopping_) {
        auto [failure, socket] =
            co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
        if (stopping_) break;
        if (failure) {
            if (const auto held_back = accept_lines_.admit(with_.env.clock.steady()))
                with_.env.log.warn(
                    "Cannot accept on {Address}: {Reason}",
                    {{"Address", path_}, {"Reason", failure.message()}, {"HeldBack", *held_back}});
            if (frees_files_after(failure)) continue;
            if (!co_await with_.env.timer.sleep_for(accept_pause)) break;
            continue;
        }
        if (const auto trusted = check_peer(socket.native_handle()); !trusted) {
            if (const auto held_back = refused_lines_.admit(with_.env.clock.steady()))
                with_.env.log.warn("A connection to {Address} was refused: {Reason}",
                                   {{"Address", path_},
                                    {"Reason", trusted.error().what()},
                                    {"HeldBack", *held_back}});
            continue;  // Nothing was read from it, and it is closed.
        }
        if (tasks_.size() <= with_.limits.connections_max)  // We are one of the tasks.
            tasks_.spawn(serve(std::move(socket)));
    }
}

task<> unix_server::serve(protocol::socket socket) {
    unix_session session(std::move(socket),
                         {with_.handler, with_.limits, with_.requests_max, with_.env.log});
    sessions_.insert(&session);
    // The stop may have come between accepting and getting here.
    if (stopping_) session.stop();
    try {
        co_await session.run();
    } catch (const std::exception& failure) {
        // One connection's trouble is not the server's.
        with_.env.log.error("A connection to {Address} failed: {Reason}",
                            {{"Address", path_}, {"Reason", failure.what()}});
    }
    sessions_.erase(&session);
}

// One for all connections: a timer for each frame would cost more than the frame.
task<> unix_server::tell_the_time() {
    const auto shortest = std::min(with_.limits.header_timeout, with_.limits.idle_timeout);
    const auto step = std::clamp(shortest / time_steps, milliseconds(1), milliseconds(1000));
    while (co_await with_.env.timer.sleep_for(step))
        for (unix_session* session : sessions_) session->pass(step);
}

}  // namespace posthorn
