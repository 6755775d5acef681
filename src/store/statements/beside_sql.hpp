#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace posthorn {

/// How the tables that are kept beside messages can be wrong, after a program has changed them.
enum class beside_fault : std::uint8_t {
    odd,   // A row that belongs to no message, or says something else than its message.
    lost,  // A message that no row leads to, so that no sweep, list or retention would find it.
};

/// One table to look through, in the order of its numbers.
struct beside_sql {
    struct text {
        std::string_view sql;
        bool asks_time = false;  // It is given the time too, as the last.
    };
    /// Given the number to go on after and how many rows at most; gives `seq` and whether the row
    /// is `wrong`.
    text find;
    /// Given `Driver::numbers` of wrong rows. Each looks again; where others write too, the first
    /// locks them.
    std::vector<text> mend;
};

/// What to look through for a fault, in tables of the newest step. The databases keep different
/// tables beside messages.
struct beside_tables {
    std::span<const beside_sql> sqlite;
    std::span<const beside_sql> postgres;
};
[[nodiscard]] beside_tables tables_beside(beside_fault which);

}  // namespace posthorn
