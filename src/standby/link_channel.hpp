#pragma once

#include <chrono>
#include <initializer_list>

#include "base/random.hpp"
#include "base/time/clock.hpp"
#include "standby/door/pair_access.hpp"
#include "standby/link_format.hpp"
#include "transport/link/link_socket.hpp"

namespace posthorn::standby {

/// The messages of a pair over a connection. After the two have shown each other that they have the
/// pair's key, all is sealed with one that is made of it.
///
/// Threads: one; `cut_off` from any.
class link_channel {
public:
    struct parts {
        const pair_access& access;
        random_source& random;
        const clock& time;
    };
    /// As the primary, which waits for little more than `patience` until the other has shown that it
    /// has the key. `error_code::bad_signature`, in its words, if the other does not take our
    /// key or version, or is not whom we trust.
    static result<link_channel> connect(const link_place& to, const parts& with,
                                        std::chrono::milliseconds patience);
    /// Goes on as the standby with one that has proven to have the key.
    link_channel(link_socket socket, link_seal seal, std::chrono::milliseconds patience)
        : socket_(std::move(socket)), seal_(std::move(seal)), patience_(patience) {}

    result<> say(link_kind kind, std::initializer_list<bytes_view> body);
    result<link_message> hear(std::size_t body_max = link_body_max);
    /// Says it and hears the answer. What is refused is `error_code::access_denied`, in the other's
    /// words; any other answer than `expected` is `error_code::malformed_request`.
    result<link_message> ask(link_kind kind, std::initializer_list<bytes_view> body,
                             link_kind expected);
    void cut_off() const noexcept { socket_.cut_off(); }

private:
    link_socket socket_;
    link_seal seal_;
    std::chrono::milliseconds patience_;
};

}  // namespace posthorn::standby
