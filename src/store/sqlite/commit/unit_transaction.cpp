#include "store/sqlite/commit/unit_transaction.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

unit_transaction::unit_transaction(connection& database, const clock& time,
                                   const outbox_rules& rules, disk_keeper& room, bool gives_back)
    : database_(database),
      cache_(database),
      log_(database),
      closed_(database),
      keys_(database, {time, rules, log_}),
      outbox_(database, time, {log_, closed_, keys_, room}),
      inbox_(database, room),
      leases_(database),
      dead_letters_(database, rules.limits, {log_, closed_, keys_, room}),
      old_(database, gives_back) {}

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

result<> unit_transaction::run(std::string_view sql, std::span<const sql_param> with) {
    return query(sql, with, nullptr);
}

result<> unit_transaction::query(std::string_view sql, std::span<const sql_param> with,
                                 const row_visitor& visit) {
    POSTHORN_TRY(require_open());
    return cache_.run(sql, with, visit);
}

}  // namespace posthorn::sqlite
