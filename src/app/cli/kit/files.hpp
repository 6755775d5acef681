#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.hpp"

namespace posthorn::cli {

inline constexpr std::size_t read_bytes_max = 1UL << 20U;

/// The whole file; `error_code::io_failed` if it cannot be read or is larger than that.
[[nodiscard]] result<std::string> read_file(const std::filesystem::path& file,
                                            std::size_t bytes_max = read_bytes_max);

struct new_file {
    mode_t mode = 0600;
};
/// Makes a file that was not there, on disk when it returns. One that is there stays as it is:
/// `error_code::invalid_argument`.
result<> write_new_file(const std::filesystem::path& file, std::string_view text,
                        const new_file& as = {});

/// Puts another text in a file's place, whole or not at all, whatever happens meanwhile. Mode and
/// owner stay; a symbolic link is followed.
result<> replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace posthorn::cli
