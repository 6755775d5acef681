#pragma once

#include "base/time/clock.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/tables/change_log.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/dead_letters_sql.hpp"
#include "store/sqlite/tables/inbox_sql.hpp"
#include "store/sqlite/tables/lease_sql.hpp"
#include "store/sqlite/tables/old_rows_sql.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"
#include "store/transaction.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// The transaction that units see, on the writer's connection.
///
/// Lifetime: as the writer's connection; idle between units.
/// Threads:  the writer's.
class unit_transaction final : public store_transaction {
public:
    /// `gives_back`: whether the file can be made smaller page by page.
    unit_transaction(connection& database, const clock& time, const outbox_rules& rules,
                     disk_keeper& room, bool gives_back);

    result<std::int64_t> execute(std::string_view sql, std::span<const sql_param> with) override;
    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const row_visitor& visit) override;
    result<> run(std::string_view sql, std::span<const sql_param> with) override;
    outbox_sql& outbox() override { return outbox_; }
    inbox_sql& inbox() override { return inbox_; }
    lease_sql& leases() override { return leases_; }
    dead_letters_sql& dead_letters() override { return dead_letters_; }
    old_rows_sql& old() override { return old_; }
    // There is one transaction that writes at a time.
    result<> take_turn(std::string_view, std::string_view) override { return {}; }
    [[nodiscard]] order_keys& keys() noexcept { return keys_; }
    [[nodiscard]] change_log& log() noexcept { return log_; }

private:
    result<> require_open() const;

    connection& database_;
    statement_cache cache_;
    change_log log_;
    closed_messages closed_;
    order_keys keys_;
    outbox_sql outbox_;
    inbox_sql inbox_;
    lease_sql leases_;
    dead_letters_sql dead_letters_;
    old_rows_sql old_;
};

}  // namespace posthorn::sqlite
