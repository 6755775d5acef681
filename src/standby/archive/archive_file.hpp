#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "security/digest.hpp"
#include "standby/archive/archive_format.hpp"
#include "standby/plain_file.hpp"
#include "standby/wal_format.hpp"

namespace posthorn::standby {

/// A file of an archive while it is written.
///
/// Lifetime: `begin`, `add`, `keep`. What was not kept is removed, and what a killed process left is
///           replaced by the next one.
/// Threads:  one at a time.
class archive_writer {
public:
    /// Under a name of its own until it is whole. `error_code::store_full` for want of room.
    static result<archive_writer> begin(const std::filesystem::path& unfinished);
    ~archive_writer();
    archive_writer(archive_writer&& other) noexcept;
    archive_writer& operator=(archive_writer&&) = delete;
    archive_writer(const archive_writer&) = delete;
    archive_writer& operator=(const archive_writer&) = delete;

    result<> add(bytes_view bytes);
    [[nodiscard]] std::uint64_t body_size() const { return size_; }
    /// Gives it its name, which survives a power cut from then on, with all that is in it. Its sum,
    /// in hexadecimal digits.
    result<std::string> keep(std::string_view head, const std::filesystem::path& name);

private:
    archive_writer(std::filesystem::path unfinished, plain_file file)
        : unfinished_(std::move(unfinished)),
          file_(std::move(file)),
          sum_(std::make_unique<sha256>()) {}

    std::filesystem::path unfinished_;
    plain_file file_;
    std::unique_ptr<sha256> sum_;
    std::uint64_t size_ = 0;
    bool open_ = true;
};

/// Reads a file of an archive.
///
/// Threads: one at a time.
class archive_reader {
public:
    static result<archive_reader> open(const std::filesystem::path& path);

    [[nodiscard]] const std::string& head() const { return head_; }
    [[nodiscard]] std::uint64_t body_size() const { return body_size_; }
    /// What it was said to sum to, in hexadecimal digits.
    [[nodiscard]] result<std::string> kept_sum() const;
    /// How many bytes of the body there were, up to the room for them.
    result<std::size_t> read(std::span<std::byte> into, std::uint64_t at) const;
    /// Goes through the body, piece by piece, and then says whether it was whole.
    /// `error_code::store_corrupt`, naming the file, if it is not what was written. Its sum, in
    /// hexadecimal digits.
    result<std::string> verify(
        const std::function<result<>(bytes_view, std::uint64_t)>& seen) const;

private:
    archive_reader(std::filesystem::path path, plain_file file)
        : path_(std::move(path)), file_(std::move(file)) {}

    std::filesystem::path path_;
    plain_file file_;
    std::string head_;
    std::uint64_t body_size_ = 0;
};

}  // namespace posthorn::standby
