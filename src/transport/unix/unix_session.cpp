#include "transport/unix/unix_session.hpp"

#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/assert.hpp"
#include "transport/http/types.hpp"
#include "transport/unix/frame_head.hpp"

namespace posthorn {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
// After a refusal the peer may still be sending. Closing at once would break its writing and could
// keep it from reading the refusal, so a little more is read and dropped first.
constexpr std::size_t linger_bytes_max = std::size_t{4} * 1024 * 1024;
constexpr milliseconds linger_timeout = std::chrono::seconds(2);

wire_reply refusal(std::uint16_t status, std::string_view code, std::string_view message) {
    return {.status = status, .body = error_response(status, code, message).body};
}

}  // namespace

unix_session::unix_session(socket_type socket, unix_session_deps parts)
    : socket_(std::move(socket)),
      parts_(parts),
      incoming_({parts.limits.header_bytes_max, parts.limits.body_bytes_max}),
      tasks_(socket_.get_executor()) {}

task<> unix_session::run() {
    tasks_.spawn(write());
    co_await read();
    read_all_ = true;
    to_write_.ring();
    co_await tasks_.join();
    if (refused_ && !broken_) co_await linger();
    drop();
}

void unix_session::stop() {
    finishing_ = true;
    stop_reading_.emit(asio::cancellation_type::terminal);
}

void unix_session::cut_off() {
    finishing_ = true;
    drop();
    tasks_.cancel();
}

void unix_session::drop() {
    broken_ = true;
    boost::system::error_code ignored;
    socket_.close(ignored);
    // What waits is never written, so nothing else would say that there is room.
    done(std::exchange(answers_, {}));
}

task<> unix_session::read() {
    while (!broken_) {
        if (auto whole = incoming_.next()) {
            while (at_work_.size() >= parts_.requests_max)
                if (!co_await room_.wait()) co_return;
            if (!take(*std::move(whole))) co_return;
        } else if (incoming_.breach()) {
            co_return refuse_breach();
        } else if (finishing_ || !co_await read_more()) {
            co_return;
        }
    }
}

task<bool> unix_session::read_more() {
    const auto room = incoming_.prepare();
    reading_ = true;
    const auto [failure, bytes] = co_await socket_.async_read_some(
        asio::buffer(room.data(), room.size()),
        asio::bind_cancellation_slot(stop_reading_.slot(), as_result));
    reading_ = false;
    incoming_.commit(bytes);
    co_return !failure;
}

// False if the peer breaks the rules, which ends the connection.
bool unix_session::take(frame whole) {
    const auto number = number_of(whole.head);
    auto request = read_request(std::move(whole));
    // An answer to a number that is at work already would be taken for the other one's.
    if (number && at_work_.contains(*number)) return false;
    if (!request) {
        if (number) refuse(*number, refusal(400, "malformed_request", request.error().what()));
        return false;
    }
    ++requests_;
    at_work_.insert(*number);
    tasks_.spawn(answer(*number, std::move(request->request)));
    return true;
}

void unix_session::refuse_breach() {
    const auto number = number_of(incoming_.breached_head());
    if (!number || at_work_.contains(*number)) return;
    if (*incoming_.breach() == frame_breach::head_too_large)
        refuse(*number, refusal(431, "headers_too_large",
                                fmt::format("the head of a frame is limited to {} bytes",
                                            parts_.limits.header_bytes_max)));
    if (*incoming_.breach() == frame_breach::body_too_large)
        refuse(*number,
               refusal(413, "body_too_large",
                       fmt::format("a body is limited to {} bytes", parts_.limits.body_bytes_max)));
}

void unix_session::refuse(std::uint64_t number, const wire_reply& with) {
    refused_ = true;
    at_work_.insert(number);
    send(number, with);
}

task<> unix_session::answer(std::uint64_t number, wire_request request) {
    const std::string path = request.path;
    wire_reply reply;
    try {
        reply = co_await parts_.handler(std::move(request));
    } catch (const std::exception& failure) {
        parts_.log.error("POST {Path} failed: {Reason}",
                         {{"Path", path}, {"Reason", failure.what()}});
        // What went wrong is for the log, not for the peer.
        reply = refusal(500, "internal_error", "the request failed; see the node's log");
    }
    send(number, std::move(reply));
}

void unix_session::send(std::uint64_t number, wire_reply reply) {
    auto start = reply_start(number, reply);
    if (!start) {
        parts_.log.error("An answer cannot be written: {Reason}",
                         {{"Reason", start.error().what()}});
        reply = refusal(500, "internal_error", "the request failed; see the node's log");
        start = reply_start(number, reply);
        POSTHORN_ASSERT(start);
    }
    answers_.push_back({number, *std::move(start), std::move(reply.body)});
    if (broken_) return done(std::exchange(answers_, {}));
    to_write_.ring();
}

task<> unix_session::write() {
    while (!broken_) {
        if (answers_.empty()) {
            if (read_all_ && at_work_.empty()) co_return;
            if (!co_await to_write_.wait()) co_return;
            continue;
        }
        // All that is there in one go.
        const auto now = std::exchange(answers_, {});
        std::vector<asio::const_buffer> bytes;
        bytes.reserve(now.size() * 2);
        for (const auto& each : now) {
            bytes.push_back(asio::buffer(each.start));
            bytes.push_back(asio::buffer(each.body));
        }
        ++writes_;
        writing_ = true;
        const auto [failure, written] = co_await asio::async_write(socket_, bytes, as_result);
        writing_ = false;
        done(now);
        if (failure) co_return drop();
    }
}

void unix_session::done(const std::vector<outgoing>& written) {
    for (const auto& each : written) at_work_.erase(each.number);
    room_.ring();
    to_write_.ring();
}

task<> unix_session::linger() {
    boost::system::error_code ignored;
    socket_.shutdown(socket_type::shutdown_send, ignored);
    lingering_ = true;
    std::string dropped(std::size_t{16} * 1024, '\0');
    for (std::size_t total = 0; total < linger_bytes_max;) {
        const auto [failure, bytes] =
            co_await socket_.async_read_some(asio::buffer(dropped), as_result);
        if (failure) co_return;
        total += bytes;
    }
}

bool unix_session::stop_watch::is_over(const wait& now, milliseconds more) {
    if (now != current) {
        current = now;
        elapsed = {};
        return false;
    }
    elapsed += more;
    return now.limit.count() > 0 && elapsed >= now.limit;
}

// Time counts against the peer only while we wait for it, not while we have no room for more.
unix_session::wait unix_session::awaited() const {
    if (!reading_) return {};
    const auto& limits = parts_.limits;
    switch (incoming_.at()) {
        case frame_decoder::progress::in_head:
            return {limits.header_timeout, phase::head, requests_};
        case frame_decoder::progress::in_body: return {limits.idle_timeout, phase::body, requests_};
        case frame_decoder::progress::between: break;
    }
    if (!at_work_.empty()) return {};
    return {requests_ == 0 ? limits.header_timeout : limits.idle_timeout, phase::idle, requests_};
}

void unix_session::pass(milliseconds elapsed) {
    // Requests that came whole still get their answers.
    if (reading_watch_.is_over(awaited(), elapsed)) stop();
    wait to_take;
    if (writing_) to_take = {parts_.limits.idle_timeout, phase::answer, writes_};
    if (lingering_) to_take = {linger_timeout, phase::answer, writes_};
    if (writing_watch_.is_over(to_take, elapsed)) drop();
}

}  // namespace posthorn
