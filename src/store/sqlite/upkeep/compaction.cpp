#include "store/sqlite/upkeep/compaction.hpp"

#include <sqlite3.h>

#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

result<file_sizes> sizes_of(const std::string& database) {
    POSTHORN_LET(opened, connection::open({.path = database}));
    std::int64_t numbers[4]{};
    std::size_t at = 0;
    for (const auto* asked :
         {"PRAGMA page_size", "PRAGMA page_count", "PRAGMA freelist_count", "PRAGMA auto_vacuum"}) {
        const auto number = opened.integer(asked);
        POSTHORN_TRY(number);
        numbers[at++] = *number;
    }
    const auto [page, all, free, mode] = numbers;
    constexpr std::int64_t incremental = 2;
    return file_sizes{.all = static_cast<std::uint64_t>(page * all),
                      .free = static_cast<std::uint64_t>(page * free),
                      .shrinks_by_itself = mode == incremental};
}

std::uint64_t room_to_compact(const file_sizes& sizes) {
    constexpr std::uint64_t spare = std::uint64_t{1} << 20;
    const auto held = sizes.all - sizes.free;
    return 2 * held + held / 50 + spare;  // The WAL adds a little to each page.
}

void put_temporary_files_into(const std::filesystem::path& folder) {
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = sqlite3_mprintf("%s", folder.c_str());
}

}  // namespace posthorn::sqlite
