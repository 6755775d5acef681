#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "transport/link/link_place.hpp"
#include "transport/link/link_tls.hpp"

namespace posthorn {

/// A connection for a thread that waits for each answer anyway.
///
/// Threads: one; `cut_off` from any.
/// Cancel:  `cut_off` ends what waits, with `error_code::unreachable`.
class link_socket {
public:
    static result<link_socket> connect(const link_place& to, std::chrono::milliseconds patience);
    explicit link_socket(int descriptor);
    ~link_socket();
    link_socket(link_socket&& other) noexcept;
    link_socket& operator=(link_socket&& other) noexcept;
    link_socket(const link_socket&) = delete;
    link_socket& operator=(const link_socket&) = delete;

    /// Agrees on TLS with a server, all of it within `patience`; nothing to do for plain text.
    /// `error_code::bad_signature` if that is not whom we look for.
    result<> secure(const link_security& with, std::chrono::milliseconds patience);
    /// From now on the other end, which has connected, must agree on TLS with us: see `shake`.
    result<> expect(const link_security& with);
    /// One step of that, which does not block.
    link_step shake();
    /// Why it has ended; empty without TLS.
    [[nodiscard]] std::string trouble() const { return tls_ ? tls_->trouble() : std::string{}; }

    /// All of it, `error_code::unreachable` otherwise. Something must go within `patience`, and no
    /// less than `bytes_in_patience`: a peer that gives a byte at a time is not waited for.
    static constexpr std::size_t bytes_in_patience = std::size_t{64} * 1024;
    result<> write(std::span<const std::byte> bytes, std::chrono::milliseconds patience);
    result<> read(std::span<std::byte> into, std::chrono::milliseconds patience);
    /// As much as there is now.
    link_step read_some(std::span<std::byte> into);
    link_step write_some(std::span<const std::byte> bytes);
    void cut_off() const noexcept;
    /// To wait on it beside others.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1;
    std::optional<link_tls> tls_;
};

/// Where such connections come in.
///
/// Threads: one; `cut_off` from any, after which no more come.
class link_listener {
public:
    /// `error_code::address_unavailable` if it cannot be listened on. A Unix socket is for this
    /// user alone; one that an earlier process left is taken over.
    static result<link_listener> listen(const link_place& at);
    ~link_listener();
    link_listener(link_listener&& other) noexcept;
    link_listener& operator=(link_listener&&) = delete;
    link_listener(const link_listener&) = delete;
    link_listener& operator=(const link_listener&) = delete;

    /// Zero for a Unix socket.
    [[nodiscard]] std::uint16_t port() const;
    /// Empty if none came; `error_code::closed` after `cut_off`.
    result<std::optional<link_socket>> accept(std::chrono::milliseconds patience);
    void cut_off() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    explicit link_listener(int descriptor) : descriptor_(descriptor) {}

    int descriptor_ = -1;
};

}  // namespace posthorn
