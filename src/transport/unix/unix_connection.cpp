#include "transport/unix/unix_connection.hpp"

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

#include "base/async/task_group.hpp"
#include "transport/unix/peer_credentials.hpp"
#include "transport/unix/socket_place.hpp"

namespace posthorn {

namespace asio = boost::asio;

namespace {

// So many ticks are the time that a call may take.
constexpr int ticks_max = 8;

// Whether the peer has closed, which our reading may not have been told yet.
bool has_ended(int socket) {
    char ignored = 0;
    const auto seen = ::recv(socket, &ignored, 1, MSG_PEEK | MSG_DONTWAIT);
    return seen == 0 || (seen < 0 && errno != EAGAIN);
}

}  // namespace

result<std::shared_ptr<unix_connection>> unix_connection::open(const asio::any_io_executor& where,
                                                               const std::string& path,
                                                               frame_limits replies) {
    const int connected = connect_to_socket(path);
    if (connected < 0)
        return fail(error_code::unreachable,
                    "no process answers on {}: {}; is the service running?", path,
                    std::generic_category().message(-connected));
    socket_type socket(where, asio::local::stream_protocol(), connected);
    if (const auto trusted = check_peer(connected); !trusted)
        return fail(error_code::unreachable, "who listens on {} is not trusted: {}", path,
                    trusted.error().what());
    std::shared_ptr<unix_connection> opened(new unix_connection(std::move(socket), replies));
    opened->read();
    return opened;
}

bool unix_connection::is_usable() {
    if (!takes_more_) return false;
    if (calls_.empty() && has_ended(socket_.native_handle())) close("the peer closed it");
    return takes_more_;
}

result<std::shared_ptr<unix_connection::call>> unix_connection::send(wire_request request) {
    const auto number = last_number_ + 1;
    POSTHORN_LET(start, request_start(number, request));
    last_number_ = number;
    auto one = std::make_shared<call>();
    one->number = number;
    one->reads_before = reads_;
    one->ticks_before = ticks_;
    calls_.emplace(number, one);
    waiting_.push_back({number, std::move(start), std::move(request.body)});
    if (in_write_.empty()) write();
    return one;
}

void unix_connection::forget(const call& one) {
    calls_.erase(one.number);
    std::erase_if(waiting_, [&](const outgoing& each) { return each.number == one.number; });
    close_if_done();
}

void unix_connection::suspect(const call& one) {
    if (one.reads_before == reads_ && ticks_ - one.ticks_before + 1 >= ticks_max)
        takes_more_ = false;
    close_if_done();
}

void unix_connection::keep_time(timer& time, std::chrono::milliseconds limit) {
    const auto step = std::max(limit / ticks_max, std::chrono::milliseconds(1));
    // It need not be joined: it holds nothing, and ends with the next tick after our end.
    std::ignore = start(socket_.get_executor(), watch(weak_from_this(), time, step));
}

task<> unix_connection::watch(std::weak_ptr<unix_connection> of, timer& time,
                              std::chrono::milliseconds step) {
    while (co_await time.sleep_for(step)) {
        const auto self = of.lock();
        if (!self || !self->socket_.is_open()) co_return;
        self->pass();
    }
}

// A call may have begun just before a tick, so that one counts for nothing.
void unix_connection::pass() {
    ++ticks_;
    // In the order of their beginning.
    while (!calls_.empty() && ticks_ - calls_.begin()->second->ticks_before > ticks_max) {
        const auto one = calls_.begin()->second;
        one->answer = fail(error_code::timed_out, "no answer in time");
        one->answered->wake();
        forget(*one);
        suspect(*one);
    }
}

void unix_connection::close_if_done() {
    if (!takes_more_ && calls_.empty()) close("it is of no more use");
}

void unix_connection::close(const std::string& why) {
    takes_more_ = false;
    boost::system::error_code ignored;
    socket_.close(ignored);
    waiting_.clear();
    for (const auto& [number, one] : std::exchange(calls_, {})) {
        one->answer = fail(error_code::unreachable, "the connection broke: {}", why);
        one->answered->wake();
    }
}

void unix_connection::settle(std::uint64_t number, result<wire_reply> answer) {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;  // Its caller no longer waits.
    const auto one = std::move(found->second);
    calls_.erase(found);
    one->answer = std::move(answer);
    one->answered->wake();
}

void unix_connection::read() {
    const auto room = incoming_.prepare();
    socket_.async_read_some(
        asio::buffer(room.data(), room.size()),
        [self = shared_from_this()](const boost::system::error_code& failure, std::size_t bytes) {
            self->incoming_.commit(bytes);
            ++self->reads_;
            if (failure) return self->close(failure.message());
            self->take_answers();
            if (self->socket_.is_open()) self->read();
        });
}

void unix_connection::take_answers() {
    while (auto whole = incoming_.next())
        if (!take(*std::move(whole))) return close("the peer sent something other than an answer");
    if (incoming_.breach()) return close("the peer sent an answer beyond the limits");
    close_if_done();
}

bool unix_connection::take(frame whole) {
    auto answer = read_reply(std::move(whole));
    if (!answer || answer->number == 0 || answer->number > last_number_) return false;
    settle(answer->number, std::move(answer->reply));
    return true;
}

void unix_connection::write() {
    if (waiting_.empty() || !socket_.is_open()) return;
    in_write_.assign(std::move_iterator(waiting_.begin()), std::move_iterator(waiting_.end()));
    waiting_.clear();
    std::vector<asio::const_buffer> bytes;
    bytes.reserve(in_write_.size() * 2);
    for (const auto& each : in_write_) {
        bytes.push_back(asio::buffer(each.start));
        bytes.push_back(asio::buffer(each.body));
    }
    asio::async_write(socket_, bytes,
                      [self = shared_from_this()](const boost::system::error_code& failure,
                                                  std::size_t /*bytes*/) {
                          self->in_write_.clear();
                          if (failure) return self->stop_writing(failure.message());
                          self->write();
                      });
}

// Answers to what was sent before may be on their way; the end of reading fails the rest.
void unix_connection::stop_writing(const std::string& why) {
    takes_more_ = false;
    for (const auto& each : std::exchange(waiting_, {}))
        settle(each.number, fail(error_code::unreachable, "the peer takes nothing more: {}", why));
    close_if_done();
}

}  // namespace posthorn
