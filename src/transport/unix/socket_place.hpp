#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace posthorn {

/// What keeps others from a socket besides the credentials of its peers.
enum class socket_folder : std::uint8_t {
    closed,  // Its directory is of mode 0700.
    shared,  // Its own mode alone: others have files in the directory, but cannot move ours away.
};

/// A path that is ours to listen on: nothing lies there, others can neither enter nor replace it,
/// and no other process of ours may take it while we hold it.
///
/// The lock file beside the socket stays behind: removing it could remove the one that another
/// process has just locked.
///
/// Lifetime: held until it is destroyed, which removes the socket.
class socket_place {
public:
    /// Makes a closed directory if it is missing, and removes a socket that no process answers on.
    /// `error_code::address_unavailable`, which says what to do, if that cannot be.
    static result<socket_place> claim(std::string path,
                                      socket_folder folder = socket_folder::closed);
    ~socket_place();
    socket_place(socket_place&& other) noexcept;
    socket_place& operator=(socket_place&&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    socket_place(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

    std::string path_;
    int lock_ = -1;
};

/// A non-blocking socket that is connected to `path`, or the system's error number, negative.
/// Never waits: a listener whose queue is full gives EAGAIN.
[[nodiscard]] int connect_to_socket(const std::string& path);

}  // namespace posthorn
