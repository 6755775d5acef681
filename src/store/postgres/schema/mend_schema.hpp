#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/migration.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/schema_differences.hpp"

namespace posthorn::postgres {

/// One statement of a step that makes something beside a table.
struct schema_object {
    std::string kind;  // As in SQL, in upper case: INDEX, TRIGGER, VIEW, FUNCTION.
    std::string name;  // Without the schema.
    std::string_view sql;

    bool operator==(const schema_object&) const = default;
};

/// What the statements of a step make, in their order. Refers to the text. Pure.
[[nodiscard]] std::vector<schema_object> objects_in(std::string_view sql);

/// A table that a step makes, or adds columns to.
struct schema_table {
    std::string name;  // Without the schema.
    std::vector<std::string> columns;

    bool operator==(const schema_table&) const = default;
};

/// The tables of a step, in the order of its statements. Pure.
[[nodiscard]] std::vector<schema_table> tables_in(std::string_view sql);

/// Looks for tables, columns, indexes, triggers, views and functions that the steps make which this
/// schema has taken; whether functions have their text, triggers are on and indexes used. Changes
/// nothing.
result<schema_differences> compare_schema(connection& database,
                                          std::span<const migration_set> sets);

/// Makes again what was dropped, and anew what was changed or switched off, and says what that was.
/// `error_code::store_corrupt` if a table or a column is missing. The tables are up to date.
result<schema_differences> mend_schema(connection& database, std::span<const migration_set> sets);

}  // namespace posthorn::postgres
