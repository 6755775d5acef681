#pragma once

#include "base/time/clock.hpp"
#include "store/commit/table_transaction.hpp"
#include "store/commit/unit_tables.hpp"
#include "store/rules/lease_changes.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/file_care.hpp"
#include "store/sqlite/tables/inbox_sql.hpp"
#include "store/sqlite/tables/old_rows_sql.hpp"
#include "store/sqlite/tables/order_keys.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"

namespace posthorn::sqlite {

using write_tables = unit_tables<driver, file_care, closed_messages, order_keys, outbox_sql,
                                 inbox_sql, lease_changes<driver>, old_rows_sql>;

/// The transaction that units see, on the writer's connection.
class unit_transaction final : public table_transaction<write_tables> {
public:
    unit_transaction(connection& database, const clock& time, const outbox_rules& rules,
                     const file_care& file)
        : table_transaction(database, time, rules, file), database_(database), cache_(database) {}

    result<std::int64_t> execute(std::string_view sql, std::span<const sql_param> with) override {
        POSTHORN_TRY(require_open());
        return cache_.change(sql, with);
    }
    result<> run(std::string_view sql, std::span<const sql_param> with) override {
        return query(sql, with, nullptr);
    }
    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const row_visitor& visit) override {
        POSTHORN_TRY(require_open());
        return cache_.run(sql, with, visit);
    }
    // There is one transaction that writes at a time.
    result<> take_turn(std::string_view, std::string_view) override { return {}; }

private:
    // A statement such as INSERT OR ROLLBACK ends the transaction. What ran after it would commit by
    // itself, outside of the group.
    result<> require_open() const {
        if (database_.is_in_transaction()) return {};
        return fail(error_code::statement_failed,
                    "an earlier statement rolled the transaction back; end the unit");
    }

    connection& database_;
    statement_cache cache_;
};

}  // namespace posthorn::sqlite
