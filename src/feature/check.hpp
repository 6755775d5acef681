#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// What a feature has to say about a database.
struct feature_finding {
    bool is_well = true;
    std::string what;
    std::string why{};  // These two only if it is not well.
    std::string todo{};
};

/// One check of a feature for `posthorn doctor`, which looks at a database without opening it as a
/// node does.
struct feature_check {
    std::string_view name;
    std::string_view sql;   // One row of whole numbers; `{s}.` before the name of each table.
    bool of_inbox = false;  // Asked of the inbox's database, where that is one of its own.
    /// Pure. Gets the numbers of that row.
    feature_finding (*judge)(std::span<const std::int64_t> numbers, wall_time now);
};

/// Rows of a table that a program wrote as no node does, and that are left out for it, for
/// `posthorn doctor`: nothing else tells of them.
struct odd_rows {
    std::string_view table;
    std::string_view where;  // SQL that both databases take; `{s}.` before the name of each table.
    std::string_view why;    // What they are, and what is not done with them: "have …, so …".
    std::string_view todo;
    bool of_inbox = false;  // Asked of the inbox's database, where that is one of its own.
};

/// So many are counted of each kind.
inline constexpr std::int64_t odd_rows_counted_max = 1000;
/// Pure. One row with one number, one more than that at most.
[[nodiscard]] std::string count_of_odd_sql(const odd_rows& of);
[[nodiscard]] feature_finding judge_odd(const odd_rows& of, std::int64_t number);

}  // namespace posthorn
