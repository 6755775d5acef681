#include "store/sqlite/unit_transaction.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

result<std::unique_ptr<unit_transaction>> unit_transaction::open(connection& database,
                                                                 const clock& time,
                                                                 outbox_rules rules,
                                                                 disk_keeper& room) {
    std::unique_ptr<unit_transaction> made(new unit_transaction(database));
    auto log = change_log::open(database);
    if (!log) return std::unexpected(std::move(log).error());
    made->log_ = *std::move(log);
    auto dead_letters = dead_letters_sql::open(database, rules.limits);
    if (!dead_letters) return std::unexpected(std::move(dead_letters).error());
    made->dead_letters_ = *std::move(dead_letters);
    made->dead_letters_.use({made->log_, made->closed_, made->outbox_});
    auto outbox = outbox_sql::open(database, time, std::move(rules));
    if (!outbox) return std::unexpected(std::move(outbox).error());
    made->outbox_ = *std::move(outbox);
    auto closed = closed_log::open(database);
    if (!closed) return std::unexpected(std::move(closed).error());
    made->closed_ = *std::move(closed);
    made->outbox_.use_logs(made->log_, made->closed_);
    made->outbox_.use_room(room);
    auto inbox = inbox_sql::open(database);
    if (!inbox) return std::unexpected(std::move(inbox).error());
    made->inbox_ = *std::move(inbox);
    made->inbox_.use_room(room);
    auto leases = lease_sql::open(database);
    if (!leases) return std::unexpected(std::move(leases).error());
    made->leases_ = *std::move(leases);
    auto old = old_rows_sql::open(database);
    if (!old) return std::unexpected(std::move(old).error());
    made->old_ = *std::move(old);
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
