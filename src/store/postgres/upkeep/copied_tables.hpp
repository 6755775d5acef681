#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/migration.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/sqlite/upkeep/moving.hpp"

namespace posthorn::postgres {

/// The store's own with rows to copy, then those of the folders above, in the order of copying. What
/// the server keeps beside them is made there: `outbox_due`, and the keys in `outbox_closed`.
[[nodiscard]] std::vector<copied_table> copied_tables(std::span<const table_set> above);

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
