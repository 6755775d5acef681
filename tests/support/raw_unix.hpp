#pragma once

#include <array>
#include <string>
#include <string_view>

namespace posthorn::test {

/// A frame as it came over the wire.
struct raw_frame {
    std::string head;
    std::string body;
    bool operator==(const raw_frame&) const = default;
};

/// The bytes of a frame, put together without any code of Posthorn's.
[[nodiscard]] std::string frame_bytes(std::string_view head, std::string_view body);

/// Two sockets that are connected with each other, for the caller to close.
[[nodiscard]] std::array<int, 2> socket_pair();

/// One end of a Unix socket connection that sends bytes as they are, the wrong ones too.
///
/// Lifetime: connects in the constructor, which throws `std::system_error` if it cannot.
/// Threads:  one at a time. Every wait ends after two minutes with a `std::runtime_error`.
class raw_unix {
public:
    explicit raw_unix(const std::string& path);
    /// Takes over a connected socket.
    explicit raw_unix(int descriptor) : descriptor_(descriptor) {}
    ~raw_unix();
    raw_unix(raw_unix&& other) noexcept;
    raw_unix& operator=(raw_unix&&) = delete;

    /// False if the peer takes no more.
    bool send(std::string_view bytes);
    /// As much as the peer's queue has room for, without waiting; gives how much that was.
    std::size_t send_some(std::string_view bytes);
    [[nodiscard]] raw_frame receive();
    /// Whether the peer closes without sending anything more; waits for either.
    [[nodiscard]] bool is_closed_by_peer();
    /// Sends nothing more, but reads on.
    void end_sending();

private:
    bool fill();

    int descriptor_ = -1;
    std::string buffer_;
};

/// Listens on a path, to be the other side of a channel.
class raw_unix_listener {
public:
    explicit raw_unix_listener(const std::string& path);
    ~raw_unix_listener();
    raw_unix_listener(const raw_unix_listener&) = delete;
    raw_unix_listener& operator=(const raw_unix_listener&) = delete;

    [[nodiscard]] raw_unix accept();

private:
    int descriptor_ = -1;
};

}  // namespace posthorn::test
