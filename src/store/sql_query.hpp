#pragma once

#include <functional>
#include <span>
#include <string>

#include <posthorn/detail/sql.hpp>

#include "base/result.hpp"

namespace posthorn {

class store;

/// Runs a statement that only looks, and leaves its rows aside: what counts is whether the database
/// takes it.
using sql_query = std::function<result<>(const std::string& sql, std::span<const sql_param> with)>;

/// The same on a store that is open, and outlives it.
[[nodiscard]] sql_query query_of(store& where);

}  // namespace posthorn
