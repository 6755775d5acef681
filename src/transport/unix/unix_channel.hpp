#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "base/async/timer.hpp"
#include "transport/unix/unix_connection.hpp"
#include "transport/wire/exchange.hpp"

namespace posthorn {

struct unix_channel_options {
    std::string path;
    std::chrono::milliseconds exchange_timeout = std::chrono::seconds(30);
    frame_limits replies = {.body_bytes_max = std::size_t{4} * 1024 * 1024};
};

/// The way to a peer that listens on a Unix socket: one kept connection with many requests on it,
/// made when there is a request and made anew when it has broken.
///
/// Lifetime: outlives the exchanges on it, as the timer does what runs on the executor. Destroyed
///           from any thread.
/// Threads:  `exchange` runs on the executor given, which is one thread or a strand.
/// Cancel:   as every channel's; the connection stays for the others.
class unix_channel final : public wire_channel {
public:
    unix_channel(boost::asio::any_io_executor where, timer& time, unix_channel_options options);
    ~unix_channel() override;
    unix_channel(const unix_channel&) = delete;
    unix_channel& operator=(const unix_channel&) = delete;

    task<result<wire_reply>> exchange(wire_request request) override;

private:
    using call = unix_connection::call;

    result<> connect();

    boost::asio::any_io_executor where_;
    timer& time_;
    unix_channel_options options_;
    std::shared_ptr<unix_connection> connection_;  // Null until there was a request.
};

}  // namespace posthorn
