#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace posthorn::test {

/// A response as it came over the wire.
struct raw_response {
    int status = 0;
    std::string head;  // Status line and headers, up to the empty line.
    std::string body;
};

/// A connection to 127.0.0.1 that sends bytes as they are, the wrong ones too.
///
/// Lifetime: connects in the constructor, which throws if it cannot.
/// Threads:  one at a time. Every wait ends after two minutes with a `std::runtime_error`.
class raw_http {
public:
    explicit raw_http(std::uint16_t port);
    ~raw_http();
    raw_http(const raw_http&) = delete;
    raw_http& operator=(const raw_http&) = delete;

    /// False if the peer takes no more.
    bool send(std::string_view bytes);
    /// The next response. One without a length has no body, as one to HEAD.
    [[nodiscard]] raw_response receive(bool to_head = false);
    /// What comes up to this text and with it; all there was if the peer closes before it.
    [[nodiscard]] std::string receive_until(std::string_view text);
    /// Whether the peer closes without sending anything more; waits for either.
    [[nodiscard]] bool is_closed_by_peer();

private:
    friend class raw_listener;
    struct adopted {
        int descriptor;
    };
    explicit raw_http(adopted connection);
    bool fill();

    int descriptor_ = -1;
    std::string buffer_;
};

/// The other end, which answers as the test says: a request is received as a response is, its first
/// line in the head.
///
/// Threads: one at a time. Every wait ends after two minutes with a `std::runtime_error`.
class raw_listener {
public:
    raw_listener();
    ~raw_listener();
    raw_listener(const raw_listener&) = delete;
    raw_listener& operator=(const raw_listener&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// The next connection; waits for it.
    [[nodiscard]] std::unique_ptr<raw_http> accept();
    /// Whether a connection waits to be accepted.
    [[nodiscard]] bool has_caller() const;

private:
    int descriptor_ = -1;
    std::uint16_t port_ = 0;
};

/// Sends one request on a connection of its own and gives the response.
[[nodiscard]] raw_response ask(std::uint16_t port, std::string_view request);
/// The port in a line such as `… http://127.0.0.1:7400 …`, 0 if there is none.
[[nodiscard]] std::uint16_t port_in(std::string_view line);

}  // namespace posthorn::test
