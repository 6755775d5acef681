#pragma once

#include <cstdint>
#include <vector>

#include "base/async/executor.hpp"
#include "base/async/task.hpp"
#include "store/claim_table.hpp"
#include "store/store.hpp"

namespace posthorn {

/// What a dispatcher has claimed of an outbox that several dispatch from. Where one does so at a
/// time, the lease says it all, and there is nothing to claim.
///
/// Lifetime: one holding of the lease; the store outlives it.
/// Threads:  the dispatcher's strand.
/// Cancel:   commits are not cancelled.
class claims {
public:
    claims(store& where, std::int64_t epoch) : where_(where), epoch_(epoch) {}

    [[nodiscard]] bool are_needed() const { return where_.sharing() != nullptr; }
    /// Whether the row, come from its commit, is ours to send.
    [[nodiscard]] bool cover(const outbox_row& row) const {
        return row.claim == epoch_ || !are_needed();
    }
    /// Whether others have stored something that is still to be taken in.
    task<result<bool>> have_arrivals(executor& readers);
    /// What others have stored counts among what is due from then on, so many rows of it; that to
    /// these destinations is ours.
    task<result<taken_in>> take_in(std::size_t rows_max, std::vector<std::string> destinations);
    /// Due rows that no other has claimed. With that they are past a sync.
    task<result<>> take(due_question asked, outbox_page& into);
    /// Rows that we hold no longer, and have not settled: others may be able to send them. If that
    /// cannot be written, the next sweep of ours finds them.
    void let_go(const std::vector<outbox_row>& rows);

private:
    /// In a transaction of the store; only where they are needed.
    [[nodiscard]] claim_table& in(store_transaction& open) const;

    store& where_;
    std::int64_t epoch_;
};

}  // namespace posthorn
