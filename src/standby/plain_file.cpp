#include "standby/plain_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posthorn::standby {
namespace {

std::unexpected<error> failed(const char* what, const std::filesystem::path& path) {
    const int cause = errno;
    const auto code =
        cause == ENOSPC || cause == EDQUOT ? error_code::store_full : error_code::io_failed;
    return fail(code, "cannot {} {}: {}", what, path.string(),
                std::generic_category().message(cause));
}

}  // namespace

std::unexpected<error> plain_file::failure(const char* what) const { return failed(what, path_); }

result<plain_file> plain_file::open(const std::filesystem::path& path, how mode) {
    constexpr mode_t for_us_and_our_group = 0640;
    const int flags = mode == how::read ? O_RDONLY : mode == how::write ? O_RDWR : O_RDWR | O_CREAT;
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, for_us_and_our_group);
    if (descriptor < 0) return failed("open", path);
    return plain_file(path, descriptor);
}

plain_file::~plain_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

plain_file::plain_file(plain_file&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

plain_file& plain_file::operator=(plain_file&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

result<std::size_t> plain_file::read(std::span<std::byte> into, std::uint64_t at) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const auto rest = into.subspan(done);
        const auto got =
            ::pread(descriptor_, rest.data(), rest.size(), static_cast<off_t>(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure("read");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

result<> plain_file::write(std::span<const std::byte> bytes, std::uint64_t at) {
    while (!bytes.empty()) {
        const auto put = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return failure("write");
        bytes = bytes.subspan(static_cast<std::size_t>(put));
        at += static_cast<std::uint64_t>(put);
    }
    return {};
}

result<std::uint64_t> plain_file::size() const {
    struct stat seen{};
    if (::fstat(descriptor_, &seen) != 0) return failure("look at");
    return static_cast<std::uint64_t>(seen.st_size);
}

result<> plain_file::resize(std::uint64_t bytes) {
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return failure("resize");
    return {};
}

result<> plain_file::sync() {
    if (::fdatasync(descriptor_) != 0) return failure("sync");
    return {};
}

bool plain_file::lock() { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

result<> sync_names_beside(const std::filesystem::path& file) {
    auto folder = file.parent_path();
    if (folder.empty()) folder = ".";
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return failed("open", folder);
    const bool is_synced = ::fsync(descriptor) == 0;
    const auto outcome = is_synced ? result<>() : result<>(failed("sync", folder));
    ::close(descriptor);
    return outcome;
}

}  // namespace posthorn::standby
