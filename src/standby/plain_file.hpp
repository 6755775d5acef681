#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.hpp"

namespace posthorn::standby {

/// A file that is read and written in place. Errors are `error_code::store_full` for want of room,
/// and else `error_code::io_failed`; both name the file.
///
/// Threads: any, of what does not overlap.
class plain_file {
public:
    enum class how : std::uint8_t { read, write, make };

    plain_file() = default;
    static result<plain_file> open(const std::filesystem::path& path, how mode);
    ~plain_file();
    plain_file(plain_file&& other) noexcept;
    plain_file& operator=(plain_file&& other) noexcept;
    plain_file(const plain_file&) = delete;
    plain_file& operator=(const plain_file&) = delete;

    /// How many bytes there are, up to the room for them.
    result<std::size_t> read(std::span<std::byte> into, std::uint64_t at) const;
    result<> write(std::span<const std::byte> bytes, std::uint64_t at);
    result<std::uint64_t> size() const;
    result<> resize(std::uint64_t bytes);
    /// The contents, and the length if it has grown.
    result<> sync();
    /// For us alone, until it is closed; false if another process has it.
    bool lock();

private:
    plain_file(std::filesystem::path path, int descriptor)
        : path_(std::move(path)), descriptor_(descriptor) {}
    [[nodiscard]] std::unexpected<error> failure(const char* what) const;

    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// What is in the folder of a file survives a power cut.
result<> sync_names_beside(const std::filesystem::path& file);

}  // namespace posthorn::standby
