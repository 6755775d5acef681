#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/time/clock.hpp"
#include "standby/archive/restore_plan.hpp"

namespace posthorn::standby {

struct archive_restore_options {
    std::filesystem::path archive;      // The folder.
    std::string name{};                 // Of the database that was archived: `orders`.
    std::filesystem::path into;         // A file that is not there yet.
    std::string service{};              // Whose it must be, if that is known.
    std::optional<wall_time> moment{};  // The newest if empty.
    bool dry_run = false;               // All is read and checked, and nothing kept.
    std::function<void(std::int64_t done_bytes, std::int64_t all_bytes)> progress{};
    /// Ends it with `error_code::cancelled` when it turns true.
    const std::atomic<bool>* cancelled = nullptr;
};

struct archive_restore_report {
    wall_time moment{};         // Of the last commit that is in it.
    std::string segment{};      // The file that this commit is in; a base, if nothing was played.
    std::uint64_t commit = 0;   // which one of it, from one on,
    std::uint64_t commits = 0;  // of so many.
    wall_time base_at{};
    std::uint64_t segments = 0;  // That were played over the base.
    std::uint64_t bytes = 0;     // Of the database.
    std::optional<wall_time>
        next_at{};  // Of the first commit that is not in it, where that is known.
    std::string service{};
    std::int64_t epoch = 0;
};

/// Makes a database as it was at a moment, from an archive, which only is read.
///
/// Every file that is used is checked against its checksum, each frame against SQLite's own, and the
/// database by SQLite before it gets its name. Its epoch is higher than any that an owner had.
/// `error_code::invalid_argument` if there is a file of that name; errors of the archive as
/// `plan_restore` has them; `error_code::store_full` for want of room.
[[nodiscard]] result<archive_restore_report> restore_from_archive(
    const archive_restore_options& asked, const clock& time);

}  // namespace posthorn::standby
