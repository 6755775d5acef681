#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "base/async/task.hpp"
#include "transport/http/tls.hpp"

namespace posthorn {

/// A connection's bytes, plain or through TLS, so that what reads and writes HTTP is written once.
///
/// Its time-outs are those of the socket itself and so belong to the network seam.
///
/// Lifetime: outlives the operations on it.
/// Threads:  every member runs on the socket's executor; one read and one write at a time.
class http_stream {
public:
    using tcp_stream = boost::beast::tcp_stream;

    /// Plain if there is no context.
    http_stream(tcp_stream tcp, std::shared_ptr<tls_context> context)
        : context_(std::move(context)), layers_(make_layers(std::move(tcp), context_.get())) {}

    /// What has come, which is at least one byte unless it failed.
    struct received {
        boost::system::error_code failure;
        std::size_t bytes = 0;
    };
    task<received> read_some(boost::asio::mutable_buffer into);
    /// All of it, in this order.
    task<boost::system::error_code> write(std::span<const boost::asio::const_buffer> bytes);

    /// Agrees on TLS with the peer that connected; nothing to do on a plain one.
    task<boost::system::error_code> accept_tls();
    /// Agrees on TLS with a server that must prove to be `host`; nothing to do on a plain one.
    task<boost::system::error_code> begin_tls(std::string host);
    /// What the certificate of the peer vouches for; nothing if it has shown none.
    [[nodiscard]] std::optional<std::vector<std::string>> certified();
    /// Tells the peer that nothing more comes. What the peer still sends can then be dropped
    /// through `tcp()`.
    task<> end_writing();
    /// Whether the peer has closed its side, as far as is known now; nothing is read.
    [[nodiscard]] bool has_hung_up();

    /// For what is read or written next.
    void expires_after(std::chrono::milliseconds time) { tcp().expires_after(time); }
    void expires_never() { tcp().expires_never(); }
    void cancel() { tcp().cancel(); }
    void close() { tcp().close(); }

    tcp_stream& tcp() {
        if (auto* secure = std::get_if<tls_stream>(&layers_)) return secure->next_layer();
        return std::get<tcp_stream>(layers_);
    }

private:
    using tls_stream = boost::beast::ssl_stream<tcp_stream>;
    using layers = std::variant<tcp_stream, tls_stream>;

    static layers make_layers(tcp_stream tcp, tls_context* context) {
        if (context == nullptr) return layers(std::in_place_type<tcp_stream>, std::move(tcp));
        return layers(std::in_place_type<tls_stream>, std::move(tcp), *context);
    }

    std::shared_ptr<tls_context> context_;  // Lives as long as the connections made with it.
    layers layers_;
};

}  // namespace posthorn
