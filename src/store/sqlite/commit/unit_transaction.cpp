#include "store/sqlite/commit/unit_transaction.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

result<std::unique_ptr<unit_transaction>> unit_transaction::open(connection& database,
                                                                 const clock& time,
                                                                 outbox_rules rules,
                                                                 disk_keeper& room) {
    std::unique_ptr<unit_transaction> made(new unit_transaction(database));
    POSTHORN_LET(log, change_log::open(database));
    made->log_ = std::move(log);
    POSTHORN_LET(dead_letters, dead_letters_sql::open(database, rules.limits));
    made->dead_letters_ = std::move(dead_letters);
    made->dead_letters_.use({made->log_, made->closed_, made->outbox_});
    POSTHORN_LET(outbox, outbox_sql::open(database, time, std::move(rules)));
    made->outbox_ = std::move(outbox);
    POSTHORN_LET(closed, closed_messages::open(database));
    made->closed_ = std::move(closed);
    made->outbox_.use_logs(made->log_, made->closed_);
    made->outbox_.use_room(room);
    POSTHORN_LET(inbox, inbox_sql::open(database));
    made->inbox_ = std::move(inbox);
    made->inbox_.use_room(room);
    POSTHORN_LET(leases, lease_sql::open(database));
    made->leases_ = std::move(leases);
    POSTHORN_LET(old, old_rows_sql::open(database));
    made->old_ = std::move(old);
    return made;
}

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
