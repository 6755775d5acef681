#pragma once

#include <utility>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/closed_messages.hpp"
#include "store/postgres/tables/order_keys.hpp"
#include "store/postgres/tables/outbox_claims.hpp"
#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {

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
        outbox_claims& claims;
        order_keys& keys;
    };
    outbox_sql(connection& database, const clock& time, const neighbours& others);

    result<enqueued> insert(message&& body) override;
    using outbox_table::insert;
    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t epoch) override;
    result<bool> requeue(const uuid& id) override;
    result<bool> pause(const paused_destination& what) override;
    result<bool> resume(std::string_view destination) override;
    result<bool> mark_notified(std::int64_t seq) override;
    result<> set_order_policy(order_policy policy) override { return keys_.set_policy(policy); }
    result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs) override {
        return keys_.release_unblocked(seqs);
    }

    /// The epoch that the session's rows are stored under; zero for none.
    void claim_as(std::int64_t epoch) noexcept { claims_as_ = epoch; }

    /// What the present unit inserted, for the hot path and the change log.
    std::vector<outbox_row> take_enqueued() { return std::exchange(enqueued_, {}); }

private:
    /// What became of rows, by `outbox_status`, for the change log.
    using by_status = std::array<std::vector<std::int64_t>, 5>;

    result<std::int64_t> settle_sent(std::span<const settlement> outcomes, std::int64_t epoch,
                                     by_status& settled);
    result<std::vector<std::int64_t>> held_of_rest(std::span<const settlement> outcomes,
                                                   std::int64_t epoch);
    result<std::int64_t> park(std::span<const settlement> outcomes,
                              std::span<const std::int64_t> ours, by_status& settled);
    result<bool> settle_one(const settlement& outcome);
    result<> after_settling(const settlement& outcome);

    const clock& time_;
    change_log& log_;
    closed_messages& closed_;
    outbox_claims& claims_;
    order_keys& keys_;
    std::int64_t claims_as_ = 0;
    statement insert_;
    statement lock_dedupe_;
    statement known_;
    statement send_;
    statement close_;
    statement retry_;
    statement attempt_;
    statement requeue_;
    statement pause_;
    statement resume_;
    statement end_;
    statement told_;
    std::vector<outbox_row> enqueued_;
};

}  // namespace posthorn::postgres
