#pragma once

#include <optional>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/async/task.hpp"
#include "base/log/log.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/stream.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// One connection: reads requests one after the other, has each answered, writes the responses.
///
/// A connection that exceeds one of its time-outs is closed without a word.
///
/// Lifetime: construct, `run()` once, destroy after it returns. Handler, limits and log
///           outlive it.
/// Threads:  every member runs on the socket's executor.
/// Cancel:   `stop` answers what has begun, `cut_off` does not.
class http_session {
public:
    /// How much a peer has shown of itself; who has shown least is the first to be spared.
    enum class standing : std::uint8_t { unknown, sent_headers, sent_request };

    http_session(http_stream stream, const http_handler& handler, const http_limits& limits,
                 logger& log);

    task<> run();
    [[nodiscard]] standing seen() const noexcept { return seen_; }
    /// Ends after the request in flight, at once if there is none.
    void stop();
    void cut_off();

private:
    using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
    struct exchange {
        http_response response;
        bool head = false;  // The request was HEAD: length but no body.
        bool keep_alive = false;
        unsigned version = 11;
    };

    task<boost::system::error_code> agree_on_tls();
    task<bool> begin_request();
    task<std::optional<exchange>> converse();
    task<boost::system::error_code> read(parser& incoming);
    task<http_response> answer(http_request request);
    task<bool> write(exchange outgoing);
    task<> linger();

    http_stream stream_;
    std::string peer_;
    std::optional<std::vector<std::string>> certified_;  // Once TLS is agreed on.
    boost::beast::flat_buffer buffer_;
    const http_handler& handler_;
    const http_limits& limits_;
    logger& log_;
    standing seen_ = standing::unknown;
    bool fresh_ = true;  // No request has come yet.
    bool idle_ = false;  // No request has begun, so that finishing loses nothing.
    bool finishing_ = false;
};

}  // namespace posthorn
