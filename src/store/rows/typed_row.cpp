#include <fmt/format.h>

#include <posthorn/detail/sql.hpp>
#include <posthorn/error.hpp>

namespace posthorn::detail {
namespace {

std::string_view shown(sql_kind kind) {
    switch (kind) {
        case sql_kind::null: return "NULL";
        case sql_kind::integer: return "an integer";
        case sql_kind::real: return "a real number";
        case sql_kind::text: return "text";
        case sql_kind::blob: break;
    }
    return "a blob";
}

}  // namespace

// Without the value, which may be confidential.
void fail_column(const sql_row& row, std::size_t column, std::string_view wanted) {
    const auto held = row.kind(column);
    throw error(error_code::statement_failed,
                fmt::format("column {} of the query, {}, holds {}, and {} was asked for; {}",
                            column + 1, row.name(column), shown(held), wanted,
                            held == sql_kind::null ? "ask for a std::optional"
                                                   : "ask for another type, or CAST it"));
}

void require_columns(const sql_row& row, std::size_t wanted) {
    if (row.size() == wanted) return;
    throw error(error_code::statement_failed,
                fmt::format("the query gives {} columns, and {} were asked for; name as many types "
                            "as it has columns",
                            row.size(), wanted));
}

void fail_second_row() {
    throw error(error_code::statement_failed,
                "the query gives more than one row; say LIMIT 1 if any of them will do, or use "
                "query");
}

}  // namespace posthorn::detail
