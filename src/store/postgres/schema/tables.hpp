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
/// A later step: deliveries to subscribers do not wait for one that was given up.
extern const std::string_view passing_definitions;
/// The fourth step: what cannot be taken in holds up no others.
extern const std::string_view odd_definitions;
/// The fifth step: no number that a program wrote into outbox_causes keeps a message from its end.
extern const std::string_view count_definitions;

}  // namespace posthorn::postgres
