#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/executor.hpp"
#include "forward/forward_desk.hpp"
#include "inbox/configured/sql_script.hpp"
#include "store/outside_database.hpp"

namespace posthorn {

inline constexpr std::string_view sql_scheme = "sql:";

/// Statements in a database of another program.
struct sql_target {
    std::vector<sql_statement> script;
    bool once = false;  // By a table of ours there; else at least once, with the id as key.
};

/// What work gives to parameters: `:id`, `:payload`, `:target`, `:category`, `:created_at` in
/// milliseconds, `:origin_instance`, `:execution_id`, `:source_script`, `:parent_execution_id`; what
/// it lacks is NULL.
/// `error_code::invalid_configuration` for another name, and for SQL that cannot be taken apart.
/// Pure.
[[nodiscard]] result<std::vector<sql_statement>> read_target_script(std::string_view sql);

/// What came of it: a database that cannot be used now is out, and charges nothing; what it refuses
/// is tried again and counts. Pure.
[[nodiscard]] delivery judge_outside(const result<>& done, std::string_view target);

/// Writes work there, on `workers`, which it may block.
[[nodiscard]] forward_asker make_sql_asker(sql_target how,
                                           std::shared_ptr<outside_database> database,
                                           executor& workers);

}  // namespace posthorn
