#pragma once

#include <span>

#include "base/time/clock.hpp"
#include "store/migration.hpp"
#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// Brings the tables of every folder up to date, in one transaction. A step that is recorded is not
/// run again; a record that no folder knows is `error_code::store_too_new`.
result<> migrate(connection& database, std::span<const migration_set> sets, const clock& time);

/// Runs one step, and drops before it the views that it makes anew.
result<> take_step(connection& database, const migration& step);

/// The outbox, inbox, lease and change tables.
[[nodiscard]] migration_set store_tables() noexcept;

}  // namespace posthorn::sqlite
