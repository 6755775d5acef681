#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/run/environment.hpp"
#include "transport/http/limits.hpp"
#include "transport/listener.hpp"
#include "transport/unix/socket_place.hpp"
#include "transport/unix/unix_session.hpp"
#include "transport/wire/log_rate_limit.hpp"

namespace posthorn {

/// What a Unix socket server is built from.
struct unix_server_deps {
    const environment& env;  // Outlives the server.
    wire_handler handler;    // What it uses outlives the server.
    http_limits limits = {};
    std::size_t requests_max = 64;  // At once on one connection; beyond, it is not read.
    socket_folder folder = socket_folder::closed;
    std::string pipe{};  // Its name, where the socket is a named pipe.
};

/// Listens on a path and speaks frames with peers that are of a trusted user.
///
/// Lifetime, threads and cancelling: as every listener.
class unix_server final : public listener {
public:
    /// Binds; fails with `address_unavailable`, naming the path and what to do.
    static result<std::unique_ptr<unix_server>> listen(const std::string& path,
                                                       unix_server_deps with);
    ~unix_server() override;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    [[nodiscard]] std::string url() const override;
    void start() override;
    task<> stop(std::chrono::milliseconds patience) override;
    void cut_off() override;

private:
    using protocol = boost::asio::local::stream_protocol;

    unix_server(unix_server_deps with, socket_place place, protocol::acceptor acceptor);

    task<> accept();
    task<> serve(protocol::socket socket);
    task<> tell_the_time();
    task<> cut_off_after(std::chrono::milliseconds patience);

    unix_server_deps with_;
    std::optional<socket_place> place_;
    std::string path_;
    protocol::acceptor acceptor_;
    task_group tasks_;  // Accepting, and the connections.
    task_group watch_;  // Their time-outs.
    std::set<unix_session*> sessions_;
    log_rate_limit accept_lines_{1};
    log_rate_limit refused_lines_{20};
    bool stopping_ = false;
    bool stopped_ = false;
    std::vector<std::shared_ptr<waiter>> waiting_for_stop_;
};

}  // namespace posthorn
