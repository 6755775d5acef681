#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace posthorn::test {

/// A port of 127.0.0.1, or the path of a Unix socket.
struct socket_address {
    std::uint16_t port = 0;
    std::string path{};
};

/// Stands between a client and a server, passes their bytes on, and does harm when told.
///
/// Lifetime: listens and passes on from the constructor, which throws `std::system_error` if it
///           cannot, to the destructor.
/// Threads:  any; the bytes have a thread of their own.
class fault_proxy {
public:
    enum class direction : std::uint8_t { to_server, to_client };
    enum class ending : std::uint8_t { reset, end };  // Broken off, or ended in order.

    /// `at` with port 0 is any free one.
    fault_proxy(socket_address at, socket_address target);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    /// Where clients connect to.
    [[nodiscard]] const socket_address& address() const noexcept { return at_; }

    /// Breaks all connections and has new ones refused.
    void refuse();
    void accept_again();
    /// From now on each connection breaks off when a byte comes after so many more that way.
    void cut(direction way, std::size_t after_bytes, ending how);
    void cut_no_more();
    /// Passes on so many bytes at a time with a pause of a millisecond; zero is as they come.
    void dribble(std::size_t bytes);
    /// Keeps back what comes on the connections that are there now, and on new ones if told so.
    void hold(bool new_ones);
    void release();
    /// Sends what the latest connection has sent until now to the server once more, on a
    /// connection of its own, and returns when the server has ended that.
    void replay();
    /// How many connections there have been.
    [[nodiscard]] std::size_t connections();

private:
    struct stream {
        int from = -1;
        int to = -1;
        direction way{};
        std::string bytes{};  // Come and not passed on.
        bool ended = false;
    };
    struct connection {
        stream up;
        stream down;
        bool held = false;
        bool broken = false;
        std::size_t until_cut = 0;  // Bytes that still pass, where there is a cut.
        std::string sent{};         // All that the client has.
    };
    struct cut_line {
        direction way{};
        std::size_t after_bytes = 0;
        ending how{};
    };

    void run();
    void wait();
    void accept();
    void pump(connection& each, stream& one);
    void pass_on(connection& each, stream& one);
    void break_off(connection& each, ending how);
    void listen();
    void wake();

    socket_address at_;
    socket_address target_;
    std::mutex mutex_;
    int listener_ = -1;
    int wake_[2] = {-1, -1};
    std::list<connection> connections_;
    std::string latest_sent_;  // Of a connection that is gone.
    std::size_t count_ = 0;
    std::optional<cut_line> cut_;
    std::size_t piece_ = 0;
    bool hold_new_ = false;
    bool stopping_ = false;
    std::jthread thread_;  // Last, so that the rest exists while it runs.
};

}  // namespace posthorn::test
