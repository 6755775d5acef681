#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "store/migration.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// What a file says of its move to another place.
struct move_mark {
    std::string id;  // Of this move; the copy has it too.
    std::string to;  // For people: without a password.
    bool is_done = false;
    wall_time at{};
};

/// Whether the store has moved elsewhere, or was about to: `error_code::invalid_configuration`,
/// which says how to go on and how to go back. Two nodes on two copies would each send everything.
result<> require_not_moved(connection& database, const std::string& path);

/// A stopped node's file that is to be copied elsewhere. No other process gets at it meanwhile.
///
/// A mark is in the file from before the first row is copied: no node starts on it and no producer
/// inserts into it, unless the mark is taken away again.
///
/// Lifetime: `open`, then either nothing, or `begin` and one of `finish` and `take_back`.
/// Threads:  one.
class moving_file {
public:
    /// `error_code::store_busy` if it is open elsewhere.
    static result<moving_file> open(const std::string& path);

    /// Every page is sound and every table is of the version that this Posthorn knows.
    result<> require_sound(const std::vector<migration_set>& sets);
    [[nodiscard]] result<std::optional<move_mark>> mark();
    result<> begin(const move_mark& mark);
    result<> finish();
    result<> take_back();

    result<std::string> service();
    /// Tables that are not Posthorn's.
    result<std::vector<std::string>> other_tables();
    /// The highest number that a table ever gave.
    result<std::int64_t> highest(std::string_view table, std::string_view key);
    result<bool> has_table(std::string_view name);
    /// Of a table that may be missing.
    result<std::int64_t> count(std::string_view table);
    [[nodiscard]] connection& database() noexcept { return database_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    moving_file(connection database, std::string path)
        : database_(std::move(database)), path_(std::move(path)) {}

    connection database_;
    std::string path_;
};

}  // namespace posthorn::sqlite
