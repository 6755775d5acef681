#pragma once

#include <chrono>
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

    /// What becomes of a connection once a piece of its bytes has gone on.
    enum class then : std::uint8_t { go_on, reset, end, end_this_way };
    struct verdict {
        std::chrono::milliseconds hold{};  // Before it goes on.
        std::size_t dribble = 0;           // So many bytes of it at a time; zero is as they come.
        then what = then::go_on;
    };
    /// Judges every piece of bytes that comes, by itself and not by what a test tells.
    ///
    /// Lifetime: outlives the proxy.
    /// Threads:  that of the proxy, which calls nothing of the proxy's.
    class judge {
    public:
        virtual ~judge() = default;
        /// May change the bytes, which are what goes on. Connections have numbers from 1.
        virtual verdict come(std::size_t connection, direction way, std::string& bytes) = 0;
        virtual void gone(std::size_t connection) = 0;
    };

    /// `at` with port 0 is any free one.
    fault_proxy(socket_address at, socket_address target, judge* judged_by = nullptr);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    /// Where clients connect to.
    [[nodiscard]] const socket_address& address() const noexcept { return at_; }

    /// From now on new connections go to another server.
    void aim(socket_address target);
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
    /// Sends bytes to the server on a connection of their own, and gives what the server says
    /// until it has ended that, or says nothing for a while; nothing if nobody is there.
    [[nodiscard]] std::optional<std::string> send(std::string_view bytes,
                                                  std::chrono::milliseconds patience);
    /// How many connections there have been.
    [[nodiscard]] std::size_t connections();

private:
    using steady = std::chrono::steady_clock;

    struct stream {
        int from = -1;
        int to = -1;
        direction way{};
        std::string bytes{};  // Come and not passed on.
        bool ended = false;
        std::size_t piece = 0;  // While bytes are left: so many at a time.
        steady::time_point held_until{};
        then what{};         // When all bytes have gone on.
        bool muted = false;  // What comes now goes nowhere.
    };
    struct connection {
        std::size_t number = 0;
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
    void take(connection& each, stream& one, std::string bytes);
    void settle(connection& each, stream& one);
    void pass_on(connection& each, stream& one);
    void break_off(connection& each, ending how);
    void reserve();
    void listen();
    void wake();

    socket_address at_;
    socket_address target_;
    judge* judge_;
    std::mutex mutex_;
    int reserved_ = -1;  // Holds the port while nobody listens.
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
