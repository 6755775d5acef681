#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/time/clock.hpp"
#include "security/address_guard.hpp"
#include "transport/http/guarded/guarded_answer.hpp"
#include "transport/http/guarded/late_watch.hpp"
#include "transport/http/stream.hpp"

namespace posthorn {

/// Bounds on what a stranger's server may do to us.
struct guarded_limits {
    std::chrono::milliseconds connect = std::chrono::seconds(5);  // All addresses together.
    std::chrono::milliseconds proxy = std::chrono::seconds(5);
    std::chrono::milliseconds tls = std::chrono::seconds(5);
    std::chrono::milliseconds whole = std::chrono::seconds(30);
    std::size_t body_bytes_max = std::size_t{64} * 1024;
    std::size_t header_bytes_max = std::size_t{16} * 1024;
    std::size_t headers_max = 100;
    std::size_t addresses_max = 4;           // How many of a name's are tried.
    std::size_t body_characters_max = 4000;  // Kept of the answer.
    /// Whether the answer's headers are kept, and its body to the byte instead, for those who verify
    /// a signature over it.
    bool verbatim = false;
};

/// Why a step did not succeed.
struct guarded_failure {
    guarded_trouble what;
    std::string text;
};
template <class T = void>
using guarded_step = std::expected<T, guarded_failure>;

/// One connection to a stranger's server, made to addresses that were judged before.
///
/// Lifetime: outlives the calls on it; those are made one after the other.
/// Threads:  every member runs on the executor given, which is one thread or a strand.
/// Cancel:   closes the connection.
class guarded_connection {
public:
    using request = boost::beast::http::request<boost::beast::http::string_body>;

    struct parts {
        boost::asio::any_io_executor where;
        timer& time;
        const clock& now;
        late_watch& late;
        http_url to;
        std::shared_ptr<tls_context> tls;  // Null for plain HTTP.
        guarded_limits limits;
    };

    explicit guarded_connection(parts made_of);

    /// Connects to the first of the addresses that takes it. What is connected to is these, and no
    /// name is looked for.
    task<guarded_step<>> connect(std::vector<ip_address> judged, std::uint16_t port,
                                 std::chrono::nanoseconds limit);
    /// Has the proxy that it is connected to lead on to `target`, such as `1.2.3.4:443`.
    task<guarded_step<>> pass_proxy(std::string target, std::string authorization,
                                    std::chrono::nanoseconds limit);
    /// The server must prove to be the URL's host.
    task<guarded_step<>> begin_tls(std::chrono::nanoseconds limit);
    /// One request and its answer; what it is told in `into` stays what it was on failure.
    task<guarded_step<>> exchange(request message, guarded_answer& into,
                                  std::chrono::nanoseconds limit);

    /// Whether another request may follow.
    [[nodiscard]] bool keeps() const noexcept { return keeps_ && !closed_; }
    /// Whether the last exchange failed before anything of an answer had come.
    [[nodiscard]] bool unanswered() const noexcept { return !answer_begun_; }
    /// Whether the peer has closed it, or sent what was not asked for, while it was idle.
    [[nodiscard]] bool is_stale();
    [[nodiscard]] const ip_address& address() const noexcept { return address_; }
    void close();

private:
    static task<guarded_step<>> run_to_end(task<guarded_step<>> step, bool& ended);
    task<bool> close_after(std::chrono::nanoseconds limit, const bool& ended);
    task<guarded_step<>> within(std::chrono::nanoseconds limit, task<guarded_step<>> step,
                                std::string_view what);
    task<guarded_step<>> connect_to(ip_address one, std::uint16_t port);
    task<guarded_step<>> ask_proxy(std::string request);
    task<guarded_step<>> agree_on_tls();
    task<guarded_step<>> ask(request message, guarded_answer& into);
    task<guarded_step<>> read_answer(guarded_answer& into);

    parts parts_;
    http_stream stream_;
    boost::beast::flat_buffer buffer_;
    ip_address address_;
    bool closed_ = false;
    bool keeps_ = false;
    bool answer_begun_ = false;
};

}  // namespace posthorn
