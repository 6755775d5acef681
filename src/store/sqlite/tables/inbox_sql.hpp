#pragma once

#include <vector>

#include "base/time/clock.hpp"
#include "store/rules/inbox_looks.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// The inbox inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class inbox_sql final : public inbox_table {
public:
    inbox_sql(connection& database, disk_keeper& room);

    result<std::optional<inbox_entry>> find(const inbox_key& key) override;
    result<bool> insert(const inbox_record& record) override;
    result<> respond(const inbox_key& key, std::string_view response) override;
    result<bool> claim(const inbox_claim& wanted, wall_time now) override;
    result<bool> complete(const inbox_record& record, std::string_view owner) override;
    result<bool> release(const inbox_key& key, std::string_view owner) override;

    /// Rows that the present unit recorded as processed, for the change log.
    std::vector<std::int64_t> take_received() { return std::exchange(received_, {}); }

private:
    disk_keeper& room_;
    statement find_;
    statement insert_;
    statement respond_;
    statement claim_;
    statement take_over_;
    statement complete_;
    statement release_;
    std::vector<std::int64_t> received_;
};

class inbox_reading final : public inbox_looks<driver> {
public:
    explicit inbox_reading(connection& database);
};

}  // namespace posthorn::sqlite
