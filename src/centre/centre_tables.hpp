#pragma once

#include "store/migration.hpp"

namespace posthorn {

/// Which service speaks for which site, what sites have submitted, and the mirror of their calls.
[[nodiscard]] table_set centre_tables() noexcept;

}  // namespace posthorn
