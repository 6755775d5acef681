#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/outbox_claims.hpp"
#include "store/rules/change_log.hpp"
#include "store/rules/order_rules.hpp"

namespace posthorn::postgres {

/// The order of messages, where others store some of the same key at the same time.
class order_keys final : public order_rules<driver, change_log<driver>> {
public:
    order_keys(connection& database, services with, outbox_claims& claims);

    result<> let_go(const order_scope& of) override;
    /// Those of the rows that an earlier message is in the way of wait from now on; which they
    /// were.
    result<std::vector<std::int64_t>> park(std::span<const std::int64_t> seqs);

    /// Whether a producer held a key just when a message of it was taken out of the way, so that
    /// the producer's could not be seen. `look_again` is to be called in a later transaction.
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

private:
    void claim(outbox_row& row) override;

    outbox_claims& claims_;
    std::int64_t claims_as_ = 0;
    statement lock_key_;
    statement park_;
    std::vector<order_scope> look_again_;
    std::vector<order_scope> looking_;  // In the present transaction.
};

}  // namespace posthorn::postgres
