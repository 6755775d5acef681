#pragma once

#include <optional>

#include "base/time/clock.hpp"
#include "store/commit/table_transaction.hpp"
#include "store/commit/unit_tables.hpp"
#include "store/postgres/commit/foreign_statements.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/inbox_sql.hpp"
#include "store/postgres/tables/lease_sql.hpp"
#include "store/postgres/tables/old_rows_sql.hpp"
#include "store/postgres/tables/order_keys.hpp"
#include "store/postgres/tables/outbox_claims.hpp"
#include "store/postgres/tables/outbox_sql.hpp"

namespace posthorn::postgres {

using write_tables = unit_tables<driver, outbox_claims, closed_account<driver>, order_keys,
                                 outbox_sql, inbox_sql, lease_sql, old_rows_sql>;

/// The transaction that units see, on the connection of a session that writes.
///
/// A statement of a unit's own that fails is taken back alone, as on SQLite. PostgreSQL spoils the
/// whole transaction, so such a statement has a savepoint before it, unless it is the first thing
/// that the unit does; or the unit has none either, and is run again if a statement fails. In that
/// case one that gives no rows is not waited for.
class unit_transaction final : public table_transaction<write_tables> {
public:
    unit_transaction(connection& database, const clock& time, const outbox_rules& rules,
                     std::string writer);

    result<std::int64_t> execute(std::string_view sql, std::span<const sql_param> with) override;
    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const row_visitor& visit) override;
    result<> run(std::string_view sql, std::span<const sql_param> with) override;
    result<> take_turn(std::string_view table, std::string_view thing) override;
    [[nodiscard]] outbox_claims& claims() noexcept { return tables().own; }

    /// Writes something, so that the commit flushes the server's log.
    result<> touch();

    // For the code that runs units.
    static constexpr const char* unit_savepoint = "SAVEPOINT posthorn_unit";
    /// In a savepoint, which has to be made then; or without any, where one failure is the end of
    /// the whole transaction.
    void begin_unit(bool in_savepoint);
    /// After which the unit must not commit, even if it returned success.
    [[nodiscard]] const std::optional<error>& broken() const noexcept { return broken_; }
    /// Whether it ran SQL that is not ours.
    [[nodiscard]] bool has_foreign_sql() const noexcept { return has_foreign_sql_; }
    /// Savepoints that it made.
    [[nodiscard]] int savepoints() const noexcept { return savepoints_; }

private:
    result<rows> run_foreign(std::string_view sql, values given);
    bool defer_foreign(std::string_view sql, values& given);

    connection& database_;
    std::string writer_;
    statement touch_;
    statement turn_;
    foreign_statements foreign_;
    std::uint64_t statements_before_ = 0;
    std::optional<error> broken_;
    bool has_foreign_sql_ = false;
    bool in_savepoint_ = true;
    int savepoints_ = 0;
};

}  // namespace posthorn::postgres
