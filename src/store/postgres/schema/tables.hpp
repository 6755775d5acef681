#pragma once

#include <string_view>

#include "store/migration.hpp"

namespace posthorn::postgres {

/// The outbox, inbox, lease and change tables. `{s}` stands for the schema.
[[nodiscard]] migration_set store_tables() noexcept;

/// The parts of the first step.
extern const std::string_view table_definitions;
extern const std::string_view intake_definitions;
extern const std::string_view trigger_definitions;
extern const std::string_view view_definitions;
/// The second step: what falls due after its expiry falls due at its expiry.
extern const std::string_view time_definitions;

}  // namespace posthorn::postgres
