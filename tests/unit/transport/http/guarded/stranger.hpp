#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/task_group.hpp"
#include "transport/http/stream.hpp"

namespace posthorn::test {

/// One connection that a stranger's server has taken.
struct stranger_line {
    explicit stranger_line(boost::asio::ip::tcp::socket socket, std::shared_ptr<tls_context> tls)
        : stream(http_stream::tcp_stream(std::move(socket)), std::move(tls)) {}

    /// The next request, head and body; empty when the client has closed.
    task<std::string> hear() {
        for (;;) {
            const auto head = received.find("\r\n\r\n");
            if (head != received.npos) {
                constexpr std::string_view length = "Content-Length: ";
                const auto at = received.find(length);
                const std::size_t body =
                    at < head ? std::stoul(received.substr(at + length.size())) : 0;
                const auto size = head + 4 + body;
                if (received.size() >= size) {
                    auto whole = received.substr(0, size);
                    received.erase(0, size);
                    co_return whole;
                }
            }
            char buffer[4096];
            const auto [failure, bytes] = co_await stream.read_some(boost::asio::buffer(buffer));
            if (failure) co_return "";
            received.append(buffer, bytes);
        }
    }

    /// False if the client takes no more.
    task<bool> say(std::string text) {
        const boost::asio::const_buffer bytes = boost::asio::buffer(text);
        co_return !co_await stream.write({&bytes, 1});
    }

    http_stream stream;
    std::string received;
};

/// A server that does with each connection what the test says, on the test's own thread.
///
/// Lifetime: until the group that it runs in was cancelled and joined.
class stranger {
public:
    using script = std::function<task<>(std::shared_ptr<stranger_line>)>;

    stranger(boost::asio::io_context& loop, task_group& tasks, script each,
             std::shared_ptr<tls_context> tls = nullptr,
             boost::asio::ip::tcp::endpoint where = {boost::asio::ip::address_v4::loopback(), 0})
        : tasks_(tasks), acceptor_(loop, where), each_(std::move(each)), tls_(std::move(tls)) {
        tasks_.spawn(run());
    }

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    [[nodiscard]] std::size_t connections() const { return connections_; }

private:
    task<> run() {
        for (;;) {
            auto [failure, socket] =
                co_await acceptor_.async_accept(boost::asio::as_tuple(boost::asio::use_awaitable));
            if (failure) co_return;
            ++connections_;
            tasks_.spawn(serve(std::make_shared<stranger_line>(std::move(socket), tls_)));
        }
    }

    task<> serve(std::shared_ptr<stranger_line> line) {
        if (co_await line->stream.accept_tls()) co_return;
        co_await each_(line);
    }

    task_group& tasks_;
    boost::asio::ip::tcp::acceptor acceptor_;
    script each_;
    std::shared_ptr<tls_context> tls_;
    std::size_t connections_ = 0;
};

}  // namespace posthorn::test
