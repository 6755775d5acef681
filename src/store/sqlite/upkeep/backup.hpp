#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time/clock.hpp"

namespace posthorn::sqlite {

struct backup_options {
    std::string database;   // The file to copy; its users go on.
    std::string service{};  // Whose it must be, if that is known.
    int step_pages = 256;
    /// Ends it with `error_code::cancelled` when it turns true.
    const std::atomic<bool>* cancelled = nullptr;
    /// Between two steps, for as long as a step took, so that the traffic gets its share of the
    /// disk. Not at all if empty.
    std::function<void(std::chrono::nanoseconds)> rest{};
    std::function<void(std::int64_t done_pages, std::int64_t all_pages)> progress{};
};

/// What a file says of itself once it was found whole.
struct backup_facts {
    std::string service;                  // Empty if no node was ever opened on it.
    std::optional<wall_time> taken_at{};  // Empty if it is not a backup that Posthorn made.
    std::int64_t epoch = 0;
    std::uintmax_t bytes = 0;

    bool operator==(const backup_facts&) const = default;
};

struct backup_report {
    std::filesystem::path file;
    backup_facts facts;
};

/// Copies one snapshot of a database, in use or not, into one file of its own, looks at every page
/// of the copy, and only then gives it its name in `folder`, which is made if need be.
///
/// It reads through a connection of its own, holds one snapshot until it has ended, and neither
/// checkpoints the source nor lets others (docs/adr/0009): meanwhile the log grows.
/// Blocks; not inside a unit.
[[nodiscard]] result<backup_report> back_up_into(const std::filesystem::path& folder,
                                                 const backup_options& options, const clock& time);
/// The same under a name of the caller's; `error_code::invalid_argument` if there is such a file.
[[nodiscard]] result<backup_report> back_up_as(const std::filesystem::path& file,
                                               const backup_options& options, const clock& time);

/// Whether a backup is whole and one that this Posthorn can use: `error_code::store_corrupt` if a
/// page is damaged, `store_too_new` if a newer Posthorn made its tables, `invalid_argument` if it
/// is not a backup or is another service's. Nothing is written, not even beside it.
[[nodiscard]] result<backup_facts> verify_backup(const std::filesystem::path& file,
                                                 const std::string& service = {},
                                                 const std::atomic<bool>* cancelled = nullptr);

}  // namespace posthorn::sqlite
