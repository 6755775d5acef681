#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/async/task.hpp"
#include "base/async/waiter.hpp"
#include "base/result.hpp"
#include "base/text/http_url.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/stream.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// One request on its way and what came of it; shared by who asked and the connection.
struct http_call {
    boost::beast::http::request<boost::beast::http::string_body> message;
    std::size_t reply_bytes_max = 0;
    std::shared_ptr<waiter> done{};  // Made anew for each connection it is given to.
    std::optional<result<http_response>> outcome{};
    bool unseen = false;  // Failed where the peer cannot have begun an answer: may be sent again.
};

/// What a client's connection is made from.
struct client_connection_deps {
    boost::asio::any_io_executor where;
    http_url to;
    std::shared_ptr<tls_context> tls;  // Null for plain HTTP.
    http_pool_limits limits;
    std::string peer_name{};  // What the server's certificate must vouch for too, if not empty.
};

/// A client's connection: writes requests without waiting for the replies to earlier ones, and
/// gives each reply to the oldest request that has none.
///
/// Lifetime: shared by the pool and by `run`, which ends when the connection does.
/// Threads:  every member runs on the executor given, which is one thread or a strand.
/// Cancel:   `run` closes the connection; `forget` too, unless the request was still unsent.
class client_connection {
public:
    explicit client_connection(client_connection_deps parts);

    /// Connects, then carries requests until either side closes. Once.
    static task<> run(std::shared_ptr<client_connection> self);

    /// Only where `has_room`. Its outcome is there when it is `done`.
    void submit(std::shared_ptr<http_call> call);
    /// Its caller no longer waits.
    void forget(const std::shared_ptr<http_call>& call);
    void close(const error& why);

    [[nodiscard]] bool has_room() const noexcept;
    [[nodiscard]] std::size_t load() const noexcept { return unsent_.size() + sent_.size(); }
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }

private:
    using calls = std::deque<std::shared_ptr<http_call>>;

    task<result<>> open();
    task<result<>> connect();
    task<> carry();
    task<error> read_replies();
    task<error> write_requests();
    task<result<bool>> read_reply();
    task<result<>> await_reply();
    void finish(calls& from, const error& why, bool unseen);
    [[nodiscard]] error broken(const boost::system::error_code& failure) const;

    client_connection_deps parts_;
    http_stream stream_;
    boost::beast::flat_buffer buffer_;
    calls unsent_;
    calls sent_;
    std::shared_ptr<waiter> writer_;  // Waits for something to be sent.
    bool closed_ = false;
    bool kept_ = false;   // A reply has come, and the peer keeps the connection.
    bool quiet_ = false;  // What was sent since it was last idle met with silence so far.
};

}  // namespace posthorn
