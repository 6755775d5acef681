#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/bell.hpp"
#include "base/async/task.hpp"
#include "base/async/timer.hpp"
#include "base/result.hpp"
#include "security/address_guard.hpp"

struct ares_addrinfo;
struct ares_channeldata;

namespace posthorn {

struct resolver_options;

/// One name that c-ares looks for, with sockets of its own: so each can be given up without the
/// others, and each asks from another port.
///
/// c-ares opens, closes, reads and writes the sockets; Asio tells when there is something to do.
///
/// Lifetime: shared by `run` and by what waits on its sockets; `close` ends the latter.
/// Threads:  every member runs on the executor given, which is one thread or a strand.
/// Cancel:   `run` heeds it.
class lookup : public std::enable_shared_from_this<lookup> {
public:
    [[nodiscard]] static result<std::shared_ptr<lookup>> make(boost::asio::any_io_executor where,
                                                              const resolver_options& options);
    ~lookup();
    lookup(const lookup&) = delete;
    lookup& operator=(const lookup&) = delete;

    /// Once.
    task<result<std::vector<ip_address>>> run(std::string name, timer& time);
    /// Twice is safe.
    void close();

private:
    // A socket of c-ares, which owns it, and what it waits for on it.
    struct watched {
        boost::asio::posix::stream_descriptor socket;
        unsigned number;  // Sockets come and go, and their descriptors are used again.
        bool wants_read = false;
        bool wants_write = false;
        bool reading = false;
        bool writing = false;
    };

    explicit lookup(boost::asio::any_io_executor where) : where_(std::move(where)) {}
    void begin(const std::string& name);
    void watch(int socket, bool readable, bool writable);
    void arm(int socket);
    void on_ready(int socket, unsigned number, bool readable);
    void finish(int status, ares_addrinfo* found);
    [[nodiscard]] std::chrono::milliseconds until_next_try() const;

    boost::asio::any_io_executor where_;
    ares_channeldata* channel_ = nullptr;
    std::map<int, watched> sockets_;
    unsigned sockets_made_ = 0;
    std::string name_;
    std::optional<result<std::vector<ip_address>>> outcome_;
    bell ended_;
    bool closed_ = false;
};

}  // namespace posthorn
