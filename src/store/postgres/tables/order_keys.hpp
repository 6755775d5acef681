#pragma once

#include <span>
#include <utility>
#include <vector>

#include "store/outbox_table.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/closed_messages.hpp"
#include "store/postgres/tables/outbox_claims.hpp"

namespace posthorn::postgres {

/// Who waits for whom: messages with an order key, inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class order_keys {
public:
    struct services {
        const clock& time;
        outbox_rules rules;
        change_log& log;
        outbox_claims& claims;
    };
    order_keys(connection& database, const services& with);

    result<> set_policy(order_policy policy);
    /// Those of the rows that an earlier message is in the way of wait from now on; which they
    /// were.
    result<std::vector<std::int64_t>> park(std::span<const std::int64_t> seqs);
    /// For a row that has become pending again: due at once, or parked.
    result<> place(std::int64_t seq);
    /// A message of the key was taken out of the way: the next one goes.
    result<> let_go(const order_scope& of);
    result<> let_go_after(std::int64_t seq);
    result<std::int64_t> release_unblocked(std::span<const std::int64_t> seqs);

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

    /// The epoch that released rows are claimed under; zero for none.
    void claim_as(std::int64_t epoch) noexcept { claims_as_ = epoch; }
    /// What the present unit released, for the hot path.
    std::vector<outbox_row> take_released() { return std::exchange(released_, {}); }

private:
    result<> announce(std::int64_t seq);

    services with_;
    std::int64_t claims_as_ = 0;
    statement one_;
    statement policy_;
    statement scope_;
    statement lock_key_;
    statement head_;
    statement release_;
    statement park_;
    statement place_;
    std::vector<outbox_row> released_;
    std::vector<order_scope> look_again_;
    std::vector<order_scope> looking_;  // In the present transaction.
};

}  // namespace posthorn::postgres
