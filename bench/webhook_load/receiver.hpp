#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace posthorn::bench {

/// All endpoints of a measurement, in a process of their own that shares memory with this one:
/// every address of 127/8 at one port. It answers 204 at once, but to `/never`, which hears nothing.
///
/// Threads: it is made before any.
class receiver {
public:
    /// As many events as it can tell the times of.
    static constexpr std::size_t events_max = std::size_t{1} << 20U;

    receiver();
    ~receiver();
    receiver(const receiver&) = delete;
    receiver& operator=(const receiver&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// Requests that were answered so far.
    [[nodiscard]] std::uint64_t count() const noexcept;
    /// When the last request of an event came; 0 if none did.
    [[nodiscard]] std::int64_t last_ns(std::uint64_t event) const noexcept;

private:
    struct memory;
    class server;

    memory* shared_ = nullptr;
    std::uint16_t port_ = 0;
    pid_t child_ = -1;
};

/// A listening socket whose queue is full: who connects hears nothing.
class full_door {
public:
    full_door();
    ~full_door();
    full_door(const full_door&) = delete;
    full_door& operator=(const full_door&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

private:
    int listener_ = -1;
    std::vector<int> callers_;
    std::uint16_t port_ = 0;
};

}  // namespace posthorn::bench
