#include "store/sqlite/commit/unit_transaction.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

// A statement such as INSERT OR ROLLBACK ends the transaction. What ran after it would commit by
// itself, outside of the group.
result<> unit_transaction::require_open() const {
    if (sqlite3_get_autocommit(database_.handle()) == 0) return {};
    return fail(error_code::statement_failed,
                "an earlier statement rolled the transaction back; end the unit");
}

result<std::int64_t> unit_transaction::execute(std::string_view sql,
                                               std::span<const sql_param> with) {
    POSTHORN_TRY(require_open());
    const auto before = sqlite3_total_changes64(database_.handle());
    POSTHORN_TRY(cache_.run(sql, with, nullptr));
    const bool changed = sqlite3_total_changes64(database_.handle()) != before;
    return changed ? sqlite3_changes64(database_.handle()) : 0;
}

result<> unit_transaction::query(std::string_view sql, std::span<const sql_param> with,
                                 const row_visitor& visit) {
    POSTHORN_TRY(require_open());
    return cache_.run(sql, with, visit);
}

}  // namespace posthorn::sqlite
