#include "app/cli/kit/files.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace posthorn::cli {
namespace {

std::unexpected<error> failed(std::string_view doing, const std::filesystem::path& file,
                              int why = errno) {
    return fail(error_code::io_failed, "cannot {} {}: {}", doing, file.string(),
                std::generic_category().message(why));
}

/// An open file.
class descriptor {
public:
    descriptor(const std::filesystem::path& file, int flags, mode_t mode = 0)
        : number_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {}
    ~descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;

    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }

private:
    int number_;
};

result<> write_and_sync(int to, std::string_view text, const std::filesystem::path& file) {
    while (!text.empty()) {
        const auto written = ::write(to, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed("write", file);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(to) != 0) return failed("sync", file);
    return {};
}

// A new name is on disk only when its directory is.
result<> sync_directory_of(const std::filesystem::path& file) {
    const auto parent = file.parent_path();
    const std::filesystem::path directory = parent.empty() ? "." : parent;
    const descriptor opened(directory, O_RDONLY | O_DIRECTORY);
    if (!opened.is_open() || ::fsync(opened.get()) != 0) return failed("sync", directory);
    return {};
}

}  // namespace

result<std::string> read_file(const std::filesystem::path& file, std::size_t bytes_max) {
    std::error_code unusable;
    if (std::filesystem::is_directory(file, unusable))
        return fail(error_code::io_failed, "cannot read {}: it is a directory", file.string());
    std::ifstream opened(file, std::ios::binary);
    if (!opened) return failed("read", file);
    std::string text(bytes_max + 1, '\0');
    opened.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (opened.bad()) return failed("read", file, EIO);
    text.resize(static_cast<std::size_t>(opened.gcount()));
    if (text.size() > bytes_max)
        return fail(error_code::io_failed, "{} is larger than {} MiB; is it the right file?",
                    file.string(), bytes_max >> 20U);
    return text;
}

result<> write_new_file(const std::filesystem::path& file, std::string_view text,
                        const new_file& as) {
    const descriptor made(file, O_WRONLY | O_CREAT | O_EXCL, as.mode);
    if (!made.is_open() && errno == EEXIST)
        return fail(error_code::invalid_argument,
                    "{} is there already and stays as it is; choose another name", file.string());
    if (!made.is_open()) return failed("make", file);
    auto written = write_and_sync(made.get(), text, file);
    if (!written) {
        ::unlink(file.c_str());
        return written;
    }
    return sync_directory_of(file);
}

result<> replace_file(const std::filesystem::path& file, std::string_view text) {
    std::error_code unusable;
    const auto real = std::filesystem::canonical(file, unusable);
    if (unusable) return failed("find", file, unusable.value());
    struct stat before{};
    if (::stat(real.c_str(), &before) != 0) return failed("look at", file);
    // In the same directory, so that it can take the file's place in one step.
    std::string name = real.string() + ".XXXXXX";
    const int temporary = ::mkostemp(name.data(), O_CLOEXEC);  // With mode 0600.
    if (temporary < 0) return failed("write beside", file);
    auto written = write_and_sync(temporary, text, name);
    // Only root may give a file away; any other user owns both.
    if (written && ::fchown(temporary, before.st_uid, before.st_gid) != 0 && ::geteuid() == 0)
        written = failed("keep the owner of", file);
    if (written && ::fchmod(temporary, before.st_mode & 07777) != 0)
        written = failed("keep the mode of", file);
    ::close(temporary);
    if (written && ::rename(name.c_str(), real.c_str()) != 0) written = failed("replace", file);
    if (!written) {
        ::unlink(name.c_str());
        return written;
    }
    return sync_directory_of(real);
}

}  // namespace posthorn::cli
