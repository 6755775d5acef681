#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"
#include "base/result.hpp"
#include "transport/unix/frame.hpp"
#include "transport/unix/frame_head.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// One connection to a peer, on which many requests may await their answers.
///
/// Written with callbacks, since it reads as long as it lives and a coroutine could not be joined:
/// what is under way keeps it alive, and `close` ends that.
///
/// Lifetime: shared; `close` before the last owner lets go. Its timer outlives the executor's work.
/// Threads:  every member runs on the executor given, which is one thread or a strand.
/// Cancel:   `forget` gives up one request, `close` all of them.
class unix_connection : public std::enable_shared_from_this<unix_connection> {
public:
    /// A request that awaits its answer.
    struct call {
        std::uint64_t number = 0;
        std::uint64_t reads_before = 0;  // How much had been read when it began.
        std::uint64_t ticks_before = 0;
        std::shared_ptr<waiter> answered = waiter::make();
        result<wire_reply> answer = wire_reply{};
    };

    /// `error_code::unreachable` if no process listens there, or one we do not trust.
    static result<std::shared_ptr<unix_connection>> open(const boost::asio::any_io_executor& where,
                                                         const std::string& path,
                                                         frame_limits replies);

    /// Whether a new request would be sent. Looks at the socket where nothing is under way.
    [[nodiscard]] bool is_usable();
    /// `error_code::invalid_argument` if the request cannot be written.
    result<std::shared_ptr<call>> send(wire_request request);
    /// Its answer is dropped if it still comes; what has not begun to be sent is not.
    void forget(const call& one);
    /// From now on a call fails with `error_code::timed_out` if it takes longer than `limit`; it
    /// may be an eighth longer. One watch for all calls: a timer for each would cost more than the
    /// call.
    void keep_time(timer& time, std::chrono::milliseconds limit);
    /// Takes no new requests, if that call's time is as good as over and nothing has come since it
    /// began: perhaps nothing ever will.
    void suspect(const call& one);
    void close(const std::string& why);

private:
    using socket_type = boost::asio::local::stream_protocol::socket;
    struct outgoing {
        std::uint64_t number;
        std::string start;  // Sizes and head.
        std::string body;
    };

    unix_connection(socket_type socket, frame_limits replies)
        : socket_(std::move(socket)), incoming_(replies) {}

    void read();
    void take_answers();
    bool take(frame whole);
    void write();
    void stop_writing(const std::string& why);
    void settle(std::uint64_t number, result<wire_reply> answer);
    void close_if_done();
    static task<> watch(std::weak_ptr<unix_connection> of, timer& time,
                        std::chrono::milliseconds step);
    void pass();

    socket_type socket_;
    frame_decoder incoming_;
    std::map<std::uint64_t, std::shared_ptr<call>> calls_;
    std::deque<outgoing> waiting_;    // Not begun to be written.
    std::vector<outgoing> in_write_;  // Empty while nothing is being written.
    std::uint64_t last_number_ = 0;
    std::uint64_t reads_ = 0;
    std::uint64_t ticks_ = 0;  // Parts of a call's time that have passed.
    bool takes_more_ = true;
};

}  // namespace posthorn
