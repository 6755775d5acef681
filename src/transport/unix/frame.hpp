#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace posthorn {

/// Bounds on what one frame may bring.
struct frame_limits {
    std::size_t head_bytes_max = std::size_t{16} * 1024;
    std::size_t body_bytes_max = std::size_t{1024 + 64} * 1024;
};

/// One frame as it stood on the wire: docs/reference/wire.md, "Unix sockets".
struct frame {
    std::string head;
    std::string body;

    bool operator==(const frame&) const = default;
};

/// What can be wrong with a frame before its head is read.
enum class frame_breach : std::uint8_t { no_head, head_too_large, body_too_large };

/// The eight bytes before a head.
[[nodiscard]] std::string frame_prefix(std::size_t head_bytes, std::size_t body_bytes);

/// Cuts what arrives into frames. Pure.
///
/// It holds what has arrived and not what was announced: a peer that promises a large body costs
/// nothing until it sends one. After a breach nothing more comes out.
///
/// Threads: one at a time.
class frame_decoder {
public:
    explicit frame_decoder(frame_limits limits) : limits_(limits) {}

    /// Room for the next bytes; `commit` says how many of them came.
    [[nodiscard]] std::span<char> prepare();
    void commit(std::size_t bytes);

    /// The next frame that is whole. Nothing if there is none yet, or if there was a breach.
    [[nodiscard]] std::optional<frame> next();

    /// Set once a limit is exceeded and as much of the head is here as `breached_head` gives.
    [[nodiscard]] std::optional<frame_breach> breach() const noexcept { return breach_; }
    /// The head of the frame that exceeds a limit, or how it begins.
    [[nodiscard]] std::string_view breached_head() const noexcept { return breached_head_; }

    /// How far the frame has come that `next` does not give yet.
    enum class progress : std::uint8_t { between, in_head, in_body };
    [[nodiscard]] progress at() const noexcept;

private:
    struct sizes {
        std::size_t head;
        std::size_t body;
    };

    [[nodiscard]] std::string_view unread() const noexcept;
    [[nodiscard]] std::optional<sizes> announced() const noexcept;
    bool check(const sizes& of);

    frame_limits limits_;
    std::string buffer_;
    std::size_t begin_ = 0;  // Of what no frame was made of yet.
    std::size_t end_ = 0;    // Of what has arrived; behind it is room.
    std::optional<frame_breach> breach_;
    std::string breached_head_;
};

}  // namespace posthorn
