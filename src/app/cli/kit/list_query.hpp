#pragma once

#include <string>
#include <string_view>

#include "app/cli/kit/admin_source.hpp"

namespace posthorn::cli {

/// A choice as the query of the admin endpoints has it: `status=Dead&limit=50`.
[[nodiscard]] std::string to_query(const list_choice& wanted);
[[nodiscard]] std::string to_query(const dead_choice& wanted);
/// What narrows it alone, with the mark before it: `?status=Dead`; empty if nothing does.
[[nodiscard]] std::string narrowing_query(const list_choice& wanted);

}  // namespace posthorn::cli
