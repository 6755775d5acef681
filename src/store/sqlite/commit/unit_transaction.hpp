#pragma once

#include "base/time/clock.hpp"
#include "store/commit/table_transaction.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/tables/change_log.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/dead_letters_sql.hpp"
#include "store/sqlite/tables/inbox_sql.hpp"
#include "store/sqlite/tables/lease_sql.hpp"
#include "store/sqlite/tables/old_rows_sql.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// What a unit can change.
struct write_tables {
    /// `gives_back`: whether the file can be made smaller page by page.
    write_tables(connection& database, const clock& time, const outbox_rules& rules,
                 disk_keeper& room, bool gives_back);

    change_log changes;
    closed_messages closed;
    order_keys keys;
    outbox_sql outbox;
    inbox_sql inbox;
    lease_sql leases;
    dead_letters_sql dead_letters;
    old_rows_sql old;
};

/// The transaction that units see, on the writer's connection.
class unit_transaction final : public table_transaction<write_tables> {
public:
    unit_transaction(connection& database, const clock& time, const outbox_rules& rules,
                     disk_keeper& room, bool gives_back)
        : table_transaction(database, time, rules, room, gives_back),
          database_(database),
          cache_(database) {}

    result<std::int64_t> execute(std::string_view sql, std::span<const sql_param> with) override;
    result<> run(std::string_view sql, std::span<const sql_param> with) override {
        return query(sql, with, nullptr);
    }
    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const row_visitor& visit) override;
    // There is one transaction that writes at a time.
    result<> take_turn(std::string_view, std::string_view) override { return {}; }

private:
    result<> require_open() const;

    connection& database_;
    statement_cache cache_;
};

}  // namespace posthorn::sqlite
