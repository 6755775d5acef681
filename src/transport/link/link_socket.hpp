#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "transport/host_port.hpp"

namespace posthorn {

/// A TCP connection for a thread that waits for each answer anyway.
///
/// Threads: one; `cut_off` from any.
/// Cancel:  `cut_off` ends what waits, with `error_code::unreachable`.
class link_socket {
public:
    static result<link_socket> connect(const host_port& to, std::chrono::milliseconds patience);
    explicit link_socket(int descriptor);
    ~link_socket();
    link_socket(link_socket&& other) noexcept;
    link_socket& operator=(link_socket&& other) noexcept;
    link_socket(const link_socket&) = delete;
    link_socket& operator=(const link_socket&) = delete;

    /// All of it, `error_code::unreachable` otherwise. Something must go within `patience`, and it
    /// must not come byte by byte.
    result<> write(std::span<const std::byte> bytes, std::chrono::milliseconds patience);
    result<> read(std::span<std::byte> into, std::chrono::milliseconds patience);
    void cut_off() const noexcept;

private:
    int descriptor_ = -1;
};

/// Where such connections come in.
///
/// Threads: one; `cut_off` from any, after which no more come.
class link_listener {
public:
    /// `error_code::address_unavailable` if it cannot be listened on.
    static result<link_listener> listen(const host_port& at);
    ~link_listener();
    link_listener(link_listener&& other) noexcept;
    link_listener& operator=(link_listener&&) = delete;
    link_listener(const link_listener&) = delete;
    link_listener& operator=(const link_listener&) = delete;

    [[nodiscard]] std::uint16_t port() const;
    /// Empty if none came; `error_code::closed` after `cut_off`.
    result<std::optional<link_socket>> accept(std::chrono::milliseconds patience);
    void cut_off() const noexcept;

private:
    explicit link_listener(int descriptor) : descriptor_(descriptor) {}

    int descriptor_ = -1;
};

}  // namespace posthorn
