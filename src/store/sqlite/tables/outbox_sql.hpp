#pragma once

#include <functional>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/rules/due_choice.hpp"
#include "store/rules/outbox_looks.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/change_log.hpp"
#include "store/sqlite/tables/closed_messages.hpp"
#include "store/sqlite/tables/due_rows.hpp"
#include "store/sqlite/tables/expired_rows.hpp"
#include "store/sqlite/tables/flow_walk.hpp"
#include "store/sqlite/tables/order_keys.hpp"
#include "store/sqlite/tables/order_walk.hpp"
#include "store/upkeep/disk_keeper.hpp"

namespace posthorn::sqlite {

/// The outbox inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class outbox_sql final : public outbox_table {
public:
    /// What the transaction has beside it.
    struct neighbours {
        change_log& log;
        closed_messages& closed;
        disk_keeper& room;
    };
    outbox_sql(connection& database, const clock& time, outbox_rules rules,
               const neighbours& others);

    result<enqueued> insert(message&& body) override;
    using outbox_table::insert;
    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t epoch) override;

    result<bool> requeue(const uuid& id) override;
    result<bool> pause(const paused_destination& what) override;
    result<bool> resume(std::string_view destination) override;
    result<bool> mark_notified(std::int64_t seq) override;
    result<> set_order_policy(order_policy policy) override;
    result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs) override;

    /// What the present unit inserted, for the hot path and the change log.
    std::vector<outbox_row> take_enqueued() { return std::exchange(enqueued_, {}); }
    /// What the present unit released, for the hot path.
    std::vector<outbox_row> take_released() { return std::exchange(released_, {}); }
    /// For a row that has become pending again: due at once, or parked.
    result<> place(std::int64_t seq) { return order_.place(seq); }
    /// A message of the key was taken out of the way: the next one goes.
    result<> let_go(const order_scope& of);

private:
    /// False if the row is not pending any more.
    result<bool> settle_one(const settlement& one);
    result<bool> record(const settlement& outcome);
    /// Numbers without a gap; false, and nothing done, unless all of them are pending.
    result<bool> send_all(std::span<const settlement> run);
    result<> let_go_after(std::int64_t seq);
    result<> announce(std::int64_t seq);
    result<> require_epoch(std::int64_t epoch);

    const clock& time_;
    change_log& log_;
    closed_messages& closed_;
    disk_keeper& room_;
    outbox_rules rules_;
    order_keys order_;
    statement insert_;
    statement known_;
    statement one_;
    statement policy_;
    statement send_;
    statement send_many_;
    statement pending_count_;
    statement close_;
    statement retry_;
    statement attempt_;
    statement epoch_;
    statement requeue_;
    statement pause_;
    statement resume_;
    statement end_;
    statement told_;
    statement is_ended_;
    std::vector<outbox_row> enqueued_;
    std::vector<outbox_row> released_;
};

/// The outbox as a reading connection sees it.
class outbox_reading final : public outbox_looks<driver> {
public:
    outbox_reading(connection& database, outbox_rules rules);

    result<std::vector<std::string>> due_destinations(wall_time now) override {
        return outlook_.destinations(now);
    }
    result<outbox_page> due(const due_question& asked) override;
    result<std::optional<wall_time>> next_due() override { return outlook_.next(); }
    result<expired_slice> expired(const expired_question& asked) override;
    result<unblocked_slice> unblocked(const std::optional<order_scope>& after,
                                      std::size_t keys_max) override {
        return keys_.unblocked(after, keys_max);
    }

private:
    result<> read_into(outbox_page& page, std::int64_t seq);

    order_keys order_;
    order_walk keys_;
    flow_walk flows_;
    due_outlook outlook_;
    due_rows due_;
    expired_rows expired_;
    statement one_;
};

}  // namespace posthorn::sqlite
