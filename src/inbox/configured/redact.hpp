#pragma once

#include <span>
#include <string>
#include <string_view>

#include <posthorn/detail/sql.hpp>

namespace posthorn {

/// What the database says of a statement, without what it may quote of the values that were bound
/// to it: `JSON path error near '…'`. Pure.
///
/// Whole values go wherever they stand, words that are a part of one and quotations go unless the
/// statement itself holds them. What is shorter than three characters stays.
[[nodiscard]] std::string redact(std::string_view text, std::span<const sql_param> given,
                                 std::string_view statement);

}  // namespace posthorn
