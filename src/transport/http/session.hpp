#pragma once

#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/log.hpp"
#include "base/task.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/types.hpp"

namespace posthorn {

/// One connection: reads requests one after the other, has each answered, writes the responses.
///
/// Its time-outs are those of the socket itself and so belong to the network seam; a connection
/// that exceeds one is closed without a word.
///
/// Lifetime: construct, `run()` once, destroy after it returns. Handler, limits and log
///           outlive it.
/// Threads:  every member runs on the socket's executor.
/// Cancel:   `finish` answers what has begun, `abort` does not.
class http_session {
public:
    http_session(boost::asio::ip::tcp::socket socket, const http_handler& handler,
                 const http_limits& limits, logger& log);

    task<> run();
    /// Ends after the request in flight, at once if there is none.
    void finish();
    void abort();

private:
    using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
    struct exchange {
        http_response response;
        bool head = false;  // The request was HEAD: length but no body.
        bool keep_alive = false;
        unsigned version = 11;
    };

    task<bool> begin_request();
    task<std::optional<exchange>> converse();
    task<boost::system::error_code> read(parser& incoming);
    task<http_response> answer(http_request request);
    task<bool> write(exchange outgoing);
    task<> linger();

    boost::beast::tcp_stream stream_;
    boost::beast::flat_buffer buffer_;
    const http_handler& handler_;
    const http_limits& limits_;
    logger& log_;
    bool fresh_ = true;  // No request has come yet.
    bool idle_ = false;  // Between requests, so that finishing loses nothing.
    bool finishing_ = false;
};

}  // namespace posthorn
