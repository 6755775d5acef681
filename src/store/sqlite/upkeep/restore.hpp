#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time/clock.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

struct restore_options {
    std::filesystem::path backup;
    std::string database;   // Where it goes, in place of what is there.
    std::string service{};  // Whose it must be, if that is known.
};

struct restore_report {
    std::filesystem::path kept;           // What was there before; empty if nothing was.
    std::optional<wall_time> taken_at{};  // Of the backup; what came later is not in it.
    std::int64_t epoch = 0;
    std::string service{};          // Whose it is; empty if no node was ever opened on it.
    bool replaced_damaged = false;  // What was there could not be read, and is kept as it is.
};

/// Puts a backup in the place of a database that is not in use, keeping what was there aside.
///
/// The copy is verified before anything is touched, and takes the database's place in one step. Its
/// epoch is higher than any that an owner of either had, so that a node that still believes it is
/// one is refused. `error_code::store_busy`, naming the process, while one has the database open.
[[nodiscard]] result<restore_report> restore(const restore_options& options, const clock& time);

/// Higher than that of any owner of a backup or of what it replaces, whose epoch is empty if not
/// known. Pure.
[[nodiscard]] std::int64_t epoch_after_restore(std::int64_t in_backup,
                                               std::optional<std::int64_t> replaced);
/// Makes a backup what a node may be opened on.
[[nodiscard]] result<> begin_epoch(const open_options& file, std::int64_t epoch, wall_time now);

/// Lets no outcome be recorded any more that an owner of before brings, in a database that takes the
/// place of another. The owners stay, so that their leases run out before others act. The change is
/// in the log, and not copied into the file.
[[nodiscard]] result<> raise_epochs(const open_options& file);

}  // namespace posthorn::sqlite
