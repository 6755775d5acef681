#include "store/postgres/schema/rights.hpp"

#include <vector>

#include <fmt/ranges.h>

#include "store/postgres/driver/failures.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {

// An application may have tables of its own in the schema, which are none of ours to ask for.
result<std::string> missing_rights(connection& database) {
    POSTHORN_LET(
        found,
        database.ask(
            "SELECT relname, current_user FROM pg_class"
            " WHERE relnamespace = to_regnamespace(" +
            text_literal(database.schema()) +
            ") AND CASE relkind WHEN 'S' THEN NOT has_sequence_privilege(oid, 'USAGE')"
            " WHEN 'r' THEN NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid,"
            " 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, "
            "'DELETE'))"
            " WHEN 'v' THEN NOT has_table_privilege(oid, 'SELECT') END ORDER BY relname"));
    std::vector<std::string_view> names;
    for (int i = 0; i < found.size(); ++i)
        if (const auto name = found[i].text(0); is_ours(name)) names.push_back(name);
    if (names.empty()) return std::string{};
    return fmt::format(
        "{2} may not use {0} of the schema {1}; grant it: GRANT USAGE ON SCHEMA {1} TO {2}; GRANT "
        "ALL ON ALL TABLES IN SCHEMA {1} TO {2}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA {1} TO {2}",
        fmt::join(names, ", "), database.schema(), found.front().text(1));
}

}  // namespace posthorn::postgres
