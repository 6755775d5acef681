#pragma once

#include <span>
#include <string>

#include "base/time/clock.hpp"
#include "store/migration.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/rules/known_steps.hpp"

namespace posthorn::postgres {

/// Brings the tables of every folder up to date, in one transaction, one node at a time. A step
/// that is recorded is not run again; a record that no folder knows is `error_code::store_too_new`.
/// Where nothing is to be done, no right but that to read is needed.
result<> migrate(connection& database, std::span<const migration_set> sets, const clock& time);

/// Which steps were taken; none where there is no schema yet.
result<newest_steps> newest_of(connection& database);

/// What `migrate` would run in an empty database, for an application's own migrations.
[[nodiscard]] std::string definitions(std::string_view schema, std::span<const migration_set> sets);

/// Writes down whose schema it is, the first time; from then on another service is refused with
/// `error_code::invalid_configuration`. Without a name it stays whose it is.
result<> claim_for(connection& database, std::string_view service);

}  // namespace posthorn::postgres
