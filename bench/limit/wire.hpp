#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limit/inbox.hpp"
#include "limit/mac.hpp"
#include "limit/outbox.hpp"

namespace posthorn::bench {

/// How requests and answers lie in the stream: a length and a signature before each, or HTTP/1.1.
enum class framing : std::uint8_t { unix_socket, http };

enum class direction : std::uint8_t { request, answer };

struct frame {
    mac_bytes signature{};
    std::string_view body{};
    std::size_t size = 0;  // Of all of it, in the stream.
};

/// Adds one to the stream's end.
void append_frame(std::string& stream, framing as, direction what, const mac_bytes& signature,
                  std::string_view body);
/// The first of the stream, if all of it has come.
[[nodiscard]] std::optional<frame> next_frame(std::string_view stream, framing as);

/// Messages as the body of a request.
[[nodiscard]] std::string encode(std::span<const stored_message> messages);
void decode(std::string_view body, std::vector<arrived_message>& into);

/// One end of a connection.
///
/// Threads: one that reads, one that writes.
class stream_socket {
public:
    explicit stream_socket(int file) : file_(file) {}
    ~stream_socket();
    stream_socket(stream_socket&& other) noexcept;
    stream_socket& operator=(stream_socket&&) = delete;

    void write_all(std::string_view bytes) const;
    /// What has come since, at least something; nothing at the end.
    [[nodiscard]] bool read_some(std::string& into) const;
    void shut() const;

private:
    int file_;
};

/// Listens on a path, or on any port of the loopback, and tells where.
///
/// Threads: one.
class listener {
public:
    listener(framing as, const std::string& path);
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    [[nodiscard]] const std::string& address() const { return address_; }
    [[nodiscard]] stream_socket accept() const;

private:
    int file_;
    framing as_;
    std::string address_;
};

[[nodiscard]] stream_socket connect_to(framing as, const std::string& address);

}  // namespace posthorn::bench
