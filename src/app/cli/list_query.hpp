#pragma once

#include <string>
#include <string_view>

#include "app/cli/admin_source.hpp"

namespace posthorn::cli {

/// As it may stand in a path or a query.
[[nodiscard]] std::string percent_encode(std::string_view text);

/// A choice as the query of the admin endpoints has it: `status=Dead&limit=50`.
[[nodiscard]] std::string to_query(const list_choice& wanted);
[[nodiscard]] std::string to_query(const dead_choice& wanted);

}  // namespace posthorn::cli
