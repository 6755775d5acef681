#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limit/mac.hpp"

namespace posthorn::bench {

/// One webhook's delivery: the event's number stands for its id.
struct posting {
    std::uint64_t event = 0;
    std::int64_t row = 0;
    std::string_view body;  // Outlives the answer.
    /// Which connection has to take it, if each leads to an endpoint of its own.
    std::optional<std::size_t> to{};
};

/// Where endpoint number i of a measurement is: an address of its own in 127/8.
[[nodiscard]] std::uint32_t address_of(std::uint64_t i) noexcept;

/// A client that signs and posts over kept connections: one thread, epoll, nothing that is not
/// needed.
///
/// Threads: one.
class poster {
public:
    enum class places : std::uint8_t {
        one,           // All connections lead to one server, and any of them takes a request.
        of_their_own,  // Connection i leads to `address_of(i)`, and `posting::to` says which.
    };

    poster(std::uint16_t port, std::size_t connections, std::string_view key,
           places to = places::one);
    ~poster();
    poster(const poster&) = delete;
    poster& operator=(const poster&) = delete;

    [[nodiscard]] bool has_room() const noexcept { return !idle_.empty(); }
    [[nodiscard]] bool is_idle() const noexcept { return idle_.size() == all_.size(); }
    /// Asks only where there is room.
    void post(const posting& what);
    /// Waits for answers, or for `wake_file` to be readable; tells of each that came.
    void wait(const std::function<void(const posting&)>& answered, int wake_file = -1);

private:
    struct connection {
        int file = -1;
        posting what{};
        std::string answer{};
    };
    /// Whether the answer is whole; throws if it is not 204.
    static bool is_whole(std::string_view answer);

    mac mac_;
    std::string request_;
    std::vector<connection> all_;
    std::vector<std::size_t> idle_;
    int events_ = -1;
    int waker_ = -1;
};

}  // namespace posthorn::bench
