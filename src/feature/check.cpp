#include "feature/check.hpp"

#include <fmt/format.h>

#include "base/text/counted.hpp"

namespace posthorn {

std::string count_of_odd_sql(const odd_rows& of) {
    return fmt::format("SELECT count(*) FROM (SELECT 1 FROM {{s}}.{} WHERE ({}) LIMIT {}) AS odd",
                       of.table, of.where, odd_rows_counted_max + 1);
}

feature_finding judge_odd(const odd_rows& of, std::int64_t number) {
    if (number <= 0) return {.what = fmt::format("no row of {} is left out", of.table)};
    const auto shown = number > odd_rows_counted_max
                           ? fmt::format("more than {} rows", odd_rows_counted_max)
                           : counted(number, "row");
    return {
        .is_well = false,
        .what = fmt::format("{} of {} {} left out", shown, of.table, number == 1 ? "is" : "are"),
        .why = std::string(of.why),
        .todo = std::string(of.todo)};
}

}  // namespace posthorn
