#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "base/async/bell.hpp"
#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/log/log.hpp"
#include "transport/http/limits.hpp"
#include "transport/unix/frame.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

/// Answers one request. Runs on the server's executor; one that throws becomes a 500.
using wire_handler = std::function<task<wire_reply>(wire_request)>;

/// What the connections of one server have in common.
struct unix_session_deps {
    const wire_handler& handler;
    const http_limits& limits;
    std::size_t requests_max;  // At work at once on one connection.
    logger& log;
};

/// One connection: reads requests while fewer than a bound are at work, writes each answer when it
/// is there.
///
/// A request counts until its answer is written, so that a peer that takes none brings none.
///
/// Lifetime: construct, `run()` once, destroy after it returns. The parts outlive it.
/// Threads:  every member runs on the socket's executor.
/// Cancel:   `stop` answers what has come, `cut_off` does not.
class unix_session {
public:
    using socket_type = boost::asio::local::stream_protocol::socket;

    unix_session(socket_type socket, unix_session_deps parts);

    task<> run();
    /// Reads nothing more and ends when what has come whole is answered.
    void stop();
    void cut_off();
    /// Tells it that time has passed, by which it closes what takes too long.
    void pass(std::chrono::milliseconds elapsed);

private:
    struct outgoing {
        std::uint64_t number;
        std::string start;  // Sizes and head.
        std::string body;
    };
    enum class phase : std::uint8_t { none, idle, head, body, answer };
    /// What a time-out is counted for; another `count` is another wait.
    struct wait {
        std::chrono::milliseconds limit{};  // Zero is none.
        phase what = phase::none;
        std::uint64_t count = 0;
        bool operator==(const wait&) const = default;
    };
    struct stop_watch {
        wait current{};
        std::chrono::milliseconds elapsed{};
        bool is_over(const wait& now, std::chrono::milliseconds more);
    };

    task<> read();
    task<bool> read_more();
    bool take(frame whole);
    void refuse_breach();
    void refuse(std::uint64_t number, const wire_reply& with);
    task<> answer(std::uint64_t number, wire_request request);
    void send(std::uint64_t number, wire_reply reply);
    task<> write();
    void done(const std::vector<outgoing>& written);
    task<> linger();
    void drop();
    [[nodiscard]] wait awaited() const;

    socket_type socket_;
    unix_session_deps parts_;
    frame_decoder incoming_;
    task_group tasks_;
    boost::asio::cancellation_signal stop_reading_;
    std::set<std::uint64_t> at_work_;  // Numbers of the requests that are not answered.
    std::vector<outgoing> answers_;    // Not being written yet.
    bell room_;                        // An answer was written.
    bell to_write_;                    // There is an answer, or nothing more will be read.
    stop_watch reading_watch_;
    stop_watch writing_watch_;
    std::uint64_t requests_ = 0;
    std::uint64_t writes_ = 0;
    bool reading_ = false;
    bool writing_ = false;
    bool finishing_ = false;
    bool read_all_ = false;
    bool lingering_ = false;
    bool refused_ = false;  // The peer may still be sending what will not be read.
    bool broken_ = false;   // There is no peer to write to.
};

}  // namespace posthorn
