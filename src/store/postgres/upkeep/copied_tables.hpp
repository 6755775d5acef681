#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/sqlite/upkeep/moving.hpp"

namespace posthorn::postgres {

/// A table that both stores have, as it is copied from the one to the other.
struct copied_table {
    struct column {
        enum class kind : std::uint8_t {
            number,
            text,  // Kept to the byte, or refused.
            note,  // For people; what the server cannot hold is replaced.
            bytes,
            payload,  // Two columns on the server: one for text, one for other bytes.
        };
        std::string_view name;
        kind holds = kind::text;
    };
    std::string_view name;
    std::span<const column> columns;  // The first is what it is ordered by, with `and_by`.
    std::string_view and_by{};
    std::string_view only{};         // Which rows, if not all.
    std::string_view numbered_by{};  // The column that the server numbers by itself, if any.
    std::string_view also{};         // A column that only the server has, if any,
    std::string_view always{};       // and what it is in all that comes from a file.
};

/// Those with rows to copy, in the order of copying. What the server keeps beside them is made
/// there: `outbox_due`, and the keys in `outbox_closed`.
[[nodiscard]] std::span<const copied_table> copied_tables() noexcept;

/// How many rows there were, and what they hold.
struct table_sum {
    std::int64_t rows = 0;
    std::int64_t hash = 0;
    bool operator==(const table_sum&) const = default;
};

/// Called after some more rows.
using rows_done = std::function<void(std::int64_t more)>;

/// Brings the rows of the file into the server's table, as they are.
result<table_sum> copy_rows(const copied_table& table, sqlite::moving_file& from, connection& to,
                            const rows_done& done);
/// What the server has of it now.
result<table_sum> sum_of(const copied_table& table, connection& on, const rows_done& done);

}  // namespace posthorn::postgres
