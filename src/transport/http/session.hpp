#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/async/task.hpp"
#include "base/log/log.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/stream.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

class http_session;

/// What a connection is served with; all of it outlives the session.
struct http_session_deps {
    const http_handler& handler;
    const http_head_check& refuses;  // May be empty.
    const http_limits& limits;
    logger& log;
    /// Called before a body is read from a connection that has not shown a key.
    std::function<void(http_session& reader)> reads_body;
};

/// One connection: reads requests one after the other, has each answered, writes the responses.
///
/// A connection that exceeds one of its time-outs is closed without a word.
///
/// Lifetime: construct, `run()` once, destroy after it returns.
/// Threads:  every member runs on the socket's executor.
/// Cancel:   `stop` answers what has begun, `cut_off` does not.
class http_session {
public:
    /// How much a peer has shown of itself; who has shown least is the first to be spared.
    enum class standing : std::uint8_t { unknown, sent_headers, sent_request, known };

    http_session(http_stream stream, http_session_deps with);

    task<> run();
    [[nodiscard]] standing seen() const noexcept { return seen_; }
    /// No request has begun, so that ending it loses nothing.
    [[nodiscard]] bool is_idle() const noexcept { return idle_; }
    /// What it may still read of a body before it is known.
    [[nodiscard]] std::size_t unknown_body_bytes() const noexcept { return unknown_body_bytes_; }
    /// Ends after the request in flight, at once if there is none.
    void stop();
    void cut_off();

private:
    using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
    struct exchange {
        http_response response{};
        bool head = false;  // The request was HEAD: length but no body.
        bool keep_alive = false;
        unsigned version = 11;
    };

    task<boost::system::error_code> agree_on_tls();
    task<bool> begin_request();
    task<std::optional<exchange>> converse();
    task<boost::system::error_code> read_head(parser& incoming);
    task<boost::system::error_code> read_body(parser& incoming);
    task<http_response> answer(http_request request);
    task<bool> write(exchange outgoing);
    task<bool> write_pieces(exchange outgoing);
    task<boost::system::error_code> write_piece(std::string piece, bool chunked);
    task<> linger();

    http_stream stream_;
    std::string peer_;
    std::optional<std::vector<std::string>> certified_;  // Once TLS is agreed on.
    boost::beast::flat_buffer buffer_;
    http_session_deps with_;
    std::shared_ptr<http_body_source> pieces_;  // While they are written.
    std::size_t unknown_body_bytes_ = 0;
    standing seen_ = standing::unknown;
    bool fresh_ = true;  // No request has come yet.
    bool idle_ = false;
    bool finishing_ = false;
};

}  // namespace posthorn
