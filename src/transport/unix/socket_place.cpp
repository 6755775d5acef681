#include "transport/unix/socket_place.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace posthorn {
namespace {

std::string reason(int number) { return std::generic_category().message(number); }

template <class... Args>
std::unexpected<error> unavailable(const std::string& path, fmt::format_string<Args...> text,
                                   Args&&... args) {
    return fail(error_code::address_unavailable, "cannot listen on {}: {}", path,
                fmt::format(text, std::forward<Args>(args)...));
}

std::string directory_of(const std::string& path) {
    const auto directory = std::filesystem::path(path).parent_path();
    return directory.empty() ? "." : directory.string();
}

// Users who may enter the directory may connect, so the directory is what keeps others out.
result<> check_directory(const std::string& path) {
    const auto directory = directory_of(path);
    if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        return unavailable(path, "the directory {} cannot be made: {}; make it with mode 0700",
                           directory, reason(errno));
    struct stat found{};
    if (::stat(directory.c_str(), &found) != 0)
        return unavailable(path, "{} cannot be looked at: {}", directory, reason(errno));
    if (!S_ISDIR(found.st_mode))
        return unavailable(path, "{} is not a directory; choose another path", directory);
    if (found.st_uid != ::geteuid())
        return unavailable(path,
                           "the directory {} belongs to user {}, and we are user {}; choose one "
                           "of our own",
                           directory, found.st_uid, ::geteuid());
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return unavailable(path,
                           "others may enter the directory {}; close it with chmod 700, or choose "
                           "a directory for sockets alone",
                           directory);
    return {};
}

// The socket's mode keeps others out; only we and root may put another in its place.
result<> check_shared_directory(const std::string& path) {
    const auto directory = directory_of(path);
    struct stat found{};
    if (::stat(directory.c_str(), &found) != 0)
        return unavailable(path, "{} cannot be looked at: {}; set TMPDIR to a folder that is there",
                           directory, reason(errno));
    if (!S_ISDIR(found.st_mode))
        return unavailable(path, "{} is not a directory; set TMPDIR to one", directory);
    const bool is_ours = found.st_uid == ::geteuid() || found.st_uid == 0;
    const bool is_open = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (!is_ours || (is_open && (found.st_mode & S_ISVTX) == 0))
        return unavailable(path,
                           "others may replace files in {}; run chmod +t on it, or set TMPDIR to a "
                           "folder of our own",
                           directory);
    return {};
}

result<int> lock_beside(const std::string& path) {
    const auto name = path + ".lock";
    const int lock =
        ::open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (lock < 0) {
        const int failure = errno;
        struct stat found{};
        if (::lstat(name.c_str(), &found) == 0 && found.st_uid != ::geteuid())
            return unavailable(path,
                               "{} belongs to user {}, who has taken the name; remove it, choose "
                               "another name, or set TMPDIR to a folder of our own",
                               name, found.st_uid);
        return unavailable(path, "{} cannot be opened: {}", name, reason(failure));
    }
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
    ::close(lock);
    return unavailable(path, "another process listens there; stop it, or choose another path");
}

result<> remove_what_is_stale(const std::string& path) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return unavailable(path, "{}", reason(errno));
    }
    if (!S_ISSOCK(found.st_mode))
        return unavailable(path, "what lies there is no socket; move it away");
    const int answered = connect_to_socket(path);
    if (answered >= 0) ::close(answered);
    // Anything but a refusal, such as a full queue, is a sign of life.
    if (answered != -ECONNREFUSED)
        return unavailable(path, "another program listens there; stop it, or choose another path");
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return unavailable(path, "an old socket cannot be removed: {}", reason(errno));
    return {};
}

std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // An embedded zero would cut the path short, one in front would leave the file system.
    if (path.empty() || path.size() >= sizeof(address.sun_path) ||
        path.find('\0') != std::string::npos)
        return std::nullopt;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

}  // namespace

result<socket_place> socket_place::claim(std::string path, socket_folder folder) {
    if (!address_of(path))
        return unavailable(path, "a path has 1 to {} bytes; choose a shorter one",
                           sizeof(sockaddr_un::sun_path) - 1);
    POSTHORN_TRY(folder == socket_folder::closed ? check_directory(path)
                                                 : check_shared_directory(path));
    POSTHORN_LET(lock, lock_beside(path));
    socket_place claimed(std::move(path), lock);
    if (auto removed = remove_what_is_stale(claimed.path_); !removed) {
        claimed.path_.clear();  // What lies there is not ours to remove.
        return std::unexpected(std::move(removed).error());
    }
    return claimed;
}

socket_place::~socket_place() {
    if (lock_ < 0) return;
    if (!path_.empty()) ::unlink(path_.c_str());
    ::close(lock_);
}

socket_place::socket_place(socket_place&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

int connect_to_socket(const std::string& path) {
    const auto address = address_of(path);
    if (!address) return -ENAMETOOLONG;
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return -errno;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) == 0)
        return socket;
    const int failure = errno;
    ::close(socket);
    return -failure;
}

}  // namespace posthorn
