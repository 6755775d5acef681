#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace posthorn {

/// One statement with its `:name` made `?1`, `?2` and so on; a name that comes twice is one.
struct sql_statement {
    std::string sql;
    std::vector<std::string> parameters;

    bool operator==(const sql_statement&) const = default;
};

/// Takes a text of statements apart at its semicolons. Pure: what the words mean is for the
/// database to say, only text, names in quotes, casts (`::`) and comments are told apart.
///
/// `error_code::invalid_configuration` if a quote or a comment does not end, if there is no
/// statement, or if a parameter is written in another way than `:name`.
[[nodiscard]] result<std::vector<sql_statement>> parse_sql_script(std::string_view text);

}  // namespace posthorn
