#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// The statements of a step, without comments before them. Refers to the text. Pure.
[[nodiscard]] std::vector<std::string_view> statements_in(std::string_view sql);

}  // namespace posthorn::postgres
