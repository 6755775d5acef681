#pragma once

#include <string>
#include <string_view>

#include "base/time/clock.hpp"
#include "inbox/configured/sql_script.hpp"
#include "inbox/handlers.hpp"
#include "store/sql_query.hpp"

namespace posthorn {

/// A handler that is nothing but SQL: the statements run in the transaction that records the
/// message, so it takes effect exactly once, by configuration alone.
///
/// If the last statement gives rows, the first is the response, as a JSON object of its columns.
/// The clock outlives it.
[[nodiscard]] transactional_handler make_sql_handler(std::vector<sql_statement> script,
                                                     const clock& time);

/// The same for messages that this service has sent and that were given up: it runs in the
/// transaction that records that it did, once for each. The clock outlives it.
[[nodiscard]] detail::unique_function<void(transaction&, const dead_letter&)> make_sql_hook(
    std::vector<sql_statement> script, const clock& time);

/// Whether the database understands the statements: `error_code::invalid_configuration` if not. A
/// table or column that is missing may come later, and is told as a remark instead.
struct sql_remark {
    std::string text;  // Empty if all is well.
};
[[nodiscard]] result<sql_remark> check_sql_script(const sql_query& ask,
                                                  const std::vector<sql_statement>& script);

}  // namespace posthorn
