#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn::postgres {

/// SQL of an application as PostgreSQL takes it: each `?` becomes `$1`, `$2` and so on, and `?2`
/// `$2`, as the same text works on SQLite; `??` stands for the operator `?`. Text that has `$1`
/// itself is left alone. Quoted texts, names and comments are passed over. Pure.
[[nodiscard]] std::string numbered(std::string_view sql);

/// A text as it is written in SQL, in quotes. Pure.
[[nodiscard]] std::string text_literal(std::string_view text);
/// A name, likewise. Pure.
[[nodiscard]] std::string quoted_identifier(std::string_view name);

/// SQL with the schema, as it is written in SQL, in the place of each `{s}`. Pure.
[[nodiscard]] std::string with_schema(std::string_view sql, std::string_view schema);

/// `error_code::statement_forbidden` for what would end the transaction that a unit shares, or
/// change the session for those after it. Pure.
[[nodiscard]] result<> require_allowed(std::string_view sql);

}  // namespace posthorn::postgres
