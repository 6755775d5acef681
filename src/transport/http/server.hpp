#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer.hpp"
#include "base/async/waiter.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/run/environment.hpp"
#include "transport/host_port.hpp"
#include "transport/http/limits.hpp"
#include "transport/http/tls.hpp"
#include "transport/http/types.hpp"
#include "transport/listener.hpp"
#include "transport/wire/log_rate_limit.hpp"

namespace posthorn {

class http_session;

/// What an HTTP server is built from.
struct http_server_deps {
    const environment& env;  // Outlives the server.
    http_handler handler;    // What it uses outlives the server.
    http_limits limits = {};
    const tls_server* tls = nullptr;  // Plain HTTP if null; outlives the server.
    http_head_check refuses{};        // Asked before a body is read that has not come yet.
};

/// Listens on one address and speaks HTTP/1.1 with the peers that connect.
///
/// When it has all the connections that it may have, one that has not shown a key gives way to a new
/// one: first those that rest between requests, then those that have sent least, each time the
/// oldest. So strangers keep no one out, whatever they do. Known callers keep theirs; a few places
/// beyond them remain for new ones, and then 503. The same ones give way when the process may open
/// no more files.
///
/// Lifetime, threads and cancelling: as every listener.
class http_server final : public listener {
public:
    /// Binds; fails with `address_unavailable`, naming the address and what to do.
    static result<std::unique_ptr<http_server>> listen(const host_port& address,
                                                       http_server_deps with);
    ~http_server() override;

    /// Where it listens; the port is the real one where any was asked for.
    [[nodiscard]] const host_port& address() const noexcept { return address_; }

    [[nodiscard]] std::string url() const override;
    void start() override;
    task<> stop(std::chrono::milliseconds patience) override;
    void cut_off() override;
    bool give_way() override;

private:
    http_server(http_server_deps with, boost::asio::ip::tcp::acceptor acceptor, host_port address);

    task<> accept();
    void admit(boost::asio::ip::tcp::socket socket);
    void bound_bodies(http_session& reader);
    task<> serve(std::unique_ptr<http_session> session);
    task<> cut_off_after(std::chrono::milliseconds patience);

    http_server_deps with_;
    boost::asio::ip::tcp::acceptor acceptor_;
    host_port address_;
    task_group tasks_;
    std::list<http_session*> sessions_;  // The oldest first, without those that gave way.
    log_rate_limit accept_lines_{1};
    bool stopping_ = false;
    bool stopped_ = false;
    std::vector<std::shared_ptr<waiter>> waiting_for_stop_;
};

}  // namespace posthorn
