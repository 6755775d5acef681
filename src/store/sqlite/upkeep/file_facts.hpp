#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <posthorn/detail/time.hpp>

#include "base/result.hpp"
#include "store/beside_report.hpp"
#include "store/inspection.hpp"
#include "store/migration.hpp"
#include "store/schema_differences.hpp"

namespace posthorn::sqlite {

/// What a database says of itself to a process that only looks.
struct file_facts {
    std::string journal_mode{};
    std::int64_t auto_vacuum = 0;       // 2 is incremental.
    std::string damage{};               // What the check found; empty if it is whole.
    std::string service{};              // Whose it is.
    std::string moved{};                // Where to, and how to go on; empty if it was not.
    schema_differences schema{};        // From what this program makes.
    std::int64_t step = 0;              // Of the store's tables.
    int step_known = 0;                 // The newest that this program has.
    std::string lease_owner{};          // Who dispatches; empty if none does.
    std::optional<wall_time> newest{};  // The latest time that anything in it was done at.
    std::int64_t dead = 0;              // Not counted past a million.
    std::int64_t expired = 0;           // Likewise.
    blocked_report blocked{};           // What waits behind one of these.
    std::int64_t numbers_left = std::int64_t{1} << 62;  // For messages to come.
    backlog_report backlog{};                           // What waits, by destination.
    beside_report beside{};  // What is wrong in the tables beside messages.
};

/// Looks without changing anything: no table is brought up to date, nothing is checkpointed.
/// `above` are the tables of other folders. `error_code::invalid_argument` for a database without
/// our tables.
[[nodiscard]] result<file_facts> look_at_file(const std::string& path, bool thorough,
                                              std::span<const table_set> above);

/// The numbers of the one row that a query gives, looked up likewise. `{s}.` in it is dropped.
[[nodiscard]] result<std::vector<std::int64_t>> ask_file(const std::string& path, std::string sql);

}  // namespace posthorn::sqlite
