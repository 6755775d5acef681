#pragma once

#include <utility>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/postgres/closed_log.hpp"
#include "store/postgres/connection.hpp"
#include "store/postgres/outbox_claims.hpp"
#include "store/postgres/outbox_rows.hpp"

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
        closed_log& closed;
        outbox_claims& claims;
    };
    outbox_sql(connection& database, const clock& time, outbox_rules rules,
               const neighbours& others);

    result<enqueued> insert(message body) override;
    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t epoch) override;
    result<bool> requeue(const uuid& id) override;
    result<bool> pause(const paused_destination& what) override;
    result<bool> resume(std::string_view destination) override;
    result<bool> tell_ended(std::int64_t seq) override;
    result<> set_order_policy(order_policy policy) override;
    result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs) override;

    /// For a row that has become pending again: due at once, or parked.
    result<> place(std::int64_t seq);
    /// A message of the key was taken out of the way: the next one goes.
    result<> let_go(const order_scope& of);
    /// Whether a producer held a key just when a message of it was taken out of the way, so that
    /// nobody could see the producer's. `look_again` is to be called in a later transaction.
    [[nodiscard]] bool must_look_again() const noexcept {
        return !look_again_.empty() || !looking_.empty();
    }
    result<> look_again();
    /// The transaction in which it did so has committed; otherwise it does so once more.
    void has_looked() noexcept { looking_.clear(); }
    /// It was undone in the transaction, which goes on.
    void look_later();

    /// The epoch that the session's rows are stored under; zero for none.
    void claim_as(std::int64_t epoch) noexcept { claims_as_ = epoch; }

    /// What the present unit inserted, for the hot path and the change log.
    std::vector<outbox_row> take_enqueued() { return std::exchange(enqueued_, {}); }
    /// What the present unit released, for the hot path.
    std::vector<outbox_row> take_released() { return std::exchange(released_, {}); }

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
    result<> let_go_after(std::int64_t seq);
    result<> announce(std::int64_t seq);

    const clock& time_;
    outbox_rules rules_;
    change_log& log_;
    closed_log& closed_;
    outbox_claims& claims_;
    std::int64_t claims_as_ = 0;
    statement insert_;
    statement lock_dedupe_;
    statement known_;
    statement one_;
    statement policy_;
    statement send_;
    statement close_;
    statement retry_;
    statement attempt_;
    statement requeue_;
    statement pause_;
    statement resume_;
    statement end_;
    statement told_;
    statement scope_;
    statement lock_key_;
    statement head_;
    statement release_;
    statement park_;
    statement place_;
    std::vector<outbox_row> enqueued_;
    std::vector<outbox_row> released_;
    std::vector<order_scope> look_again_;
    std::vector<order_scope> looking_;  // In the present transaction.
};

}  // namespace posthorn::postgres
