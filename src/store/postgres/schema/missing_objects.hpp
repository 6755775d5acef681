#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/migration.hpp"
#include "store/postgres/driver/connection.hpp"

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

/// Makes indexes, triggers, views and functions again that the steps have made once and that were
/// dropped since, and gives their names. The tables are up to date.
result<std::vector<std::string>> make_missing(connection& database,
                                              std::span<const migration_set> sets);

}  // namespace posthorn::postgres
