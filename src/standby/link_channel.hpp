#pragma once

#include <chrono>
#include <initializer_list>

#include "base/random.hpp"
#include "standby/link_format.hpp"
#include "transport/link/link_socket.hpp"

namespace posthorn::standby {

/// The messages of a pair over a connection. After the two have shown each other that they have the
/// pair's key, all is sealed with one that is made of it.
///
/// Threads: one; `cut_off` from any.
class link_channel {
public:
    /// As the primary.
    static result<link_channel> connect(const host_port& to, const secret& pair_key,
                                        random_source& random, std::chrono::milliseconds patience);
    /// As the standby, whom one has connected to. Whether it has the key shows with what it says
    /// next.
    static result<link_channel> answer(link_socket from, const secret& pair_key,
                                       random_source& random, std::chrono::milliseconds patience);

    result<> say(link_kind kind, std::initializer_list<bytes_view> body);
    result<link_message> hear();
    /// Says it and hears the answer. What is refused is `error_code::access_denied`, in the other's
    /// words; any other answer than `expected` is `error_code::malformed_request`.
    result<link_message> ask(link_kind kind, std::initializer_list<bytes_view> body,
                             link_kind expected);
    void cut_off() const noexcept { socket_.cut_off(); }

private:
    link_channel(link_socket socket, link_end self, std::chrono::milliseconds patience)
        : socket_(std::move(socket)), seal_(self), patience_(patience) {}

    link_socket socket_;
    link_seal seal_;
    std::chrono::milliseconds patience_;
};

}  // namespace posthorn::standby
