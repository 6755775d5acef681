#pragma once

#include <vector>

#include "store/outbox_table.hpp"
#include "store/rules/due_choice.hpp"
#include "store/rules/outbox_changes.hpp"
#include "store/rules/outbox_looks.hpp"
#include "store/rules/table_neighbours.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/due_rows.hpp"
#include "store/sqlite/tables/expired_rows.hpp"
#include "store/sqlite/tables/file_care.hpp"
#include "store/sqlite/tables/flow_walk.hpp"
#include "store/sqlite/tables/order_keys.hpp"
#include "store/sqlite/tables/order_walk.hpp"

namespace posthorn::sqlite {

class outbox_sql final : public outbox_changes<driver, table_neighbours<driver, order_keys>> {
public:
    outbox_sql(connection& database, const clock& time,
               const table_neighbours<driver, order_keys>& others, const file_care& file);

    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t epoch) override;

private:
    result<inserted_row> insert_row(const message& body) override;
    /// False if the row is not pending any more.
    result<bool> settle_one(const settlement& one);
    result<bool> record(const settlement& outcome);
    /// Numbers without a gap; false, and nothing done, unless all of them are pending.
    result<bool> send_all(std::span<const settlement> run);
    result<> require_epoch(std::int64_t epoch);

    disk_keeper& room_;
    statement insert_;
    statement send_;
    statement send_many_;
    statement pending_count_;
    statement epoch_;
};

/// The outbox as a reading connection sees it.
class outbox_reading final : public outbox_looks<driver, flow_walk, due_rows> {
public:
    outbox_reading(connection& database, outbox_rules rules);

    result<expired_slice> expired(const expired_question& asked) override;
    result<unblocked_slice> unblocked(const std::optional<order_scope>& after,
                                      std::size_t keys_max) override {
        return keys_.unblocked(after, keys_max);
    }

private:
    result<outbox_page> read_page(const chosen_rows& chosen, std::size_t bytes_max) override;
    /// Gives the bytes that the page holds more. A row that is too large is not read.
    result<std::size_t> read_into(outbox_page& page, std::int64_t seq);

    connection& database_;
    order_walk keys_;
    expired_rows expired_;
    statement one_;
    statement late_;
    statement is_blocked_;
};

}  // namespace posthorn::sqlite
