#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace posthorn::sqlite {

/// What a file takes up, and what of it holds nothing.
struct file_sizes {
    std::uint64_t all = 0;
    std::uint64_t free = 0;
    bool shrinks_by_itself = false;  // Free pages go back to the disk.
};

[[nodiscard]] result<file_sizes> sizes_of(const std::string& database);

/// The room that writing a file anew takes meanwhile: what it holds, once in a temporary file and
/// once in the WAL. Pure.
[[nodiscard]] std::uint64_t room_to_compact(const file_sizes& sizes);

/// Where SQLite puts its temporary files, instead of where the system does: that may be small, and
/// in memory. For the whole process; before others use SQLite.
void put_temporary_files_into(const std::filesystem::path& folder);

}  // namespace posthorn::sqlite
