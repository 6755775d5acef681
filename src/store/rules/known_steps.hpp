#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/migration.hpp"

namespace posthorn {

/// `error_code::store_too_new` if a database's tables are past the steps that this Posthorn knows.
result<> require_known(const migration_set& set, std::int64_t step);

/// The newest step that a database has taken, by folder.
using newest_steps = std::map<std::string, std::int64_t, std::less<>>;
/// Of all steps, those up to the newest. Pure.
[[nodiscard]] std::vector<migration_set> taken_of(std::span<const migration_set> sets,
                                                  const newest_steps& newest);

}  // namespace posthorn
