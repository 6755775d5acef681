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

}  // namespace posthorn
