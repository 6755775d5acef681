#pragma once

#include "base/text/joined.hpp"
#include "store/claim_table.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/due_rows.hpp"
#include "store/postgres/tables/flows.hpp"
#include "store/postgres/tables/page_reader.hpp"

namespace posthorn::postgres {

/// The epochs of dispatchers that have a seat.
inline constexpr auto seated_epochs = joined(R"sql(ARRAY(
    SELECT epoch FROM {s}.posthorn_leases
    WHERE owner IS NOT NULL AND name LIKE 'dispatcher/%'))sql");
/// Whether a row of `outbox_due`, called `d`, is free, or the dispatcher's own. A row that another
/// claimed while the statement ran is looked at as it is now, but the list of seats is as it was
/// then: whether a seat has been taken since is asked anew.
template <class Text>
consteval auto is_unclaimed(const Text& epoch) {
    return joined("(d.claim_epoch IS NULL OR d.claim_epoch = ", epoch,
                  " OR (d.claim_epoch <> ALL (", seated_epochs,
                  ") AND NOT {s}.is_seated(d.claim_epoch)))");
}

/// Which dispatcher sends what, inside a write transaction.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class outbox_claims final : public claim_table {
public:
    outbox_claims(connection& database, const outbox_rules& rules);

    result<outbox_page> claim(const due_question& asked, std::int64_t epoch) override;
    result<taken_in> take_in(const arrivals_question& asked) override;
    result<> let_go(std::span<const std::int64_t> seqs, std::int64_t epoch) override;
    result<std::vector<seat>> seats() override;

    /// No other takes the seat away between this and the commit. `error_code::lease_lost` if one
    /// has.
    result<> require_epoch(std::int64_t epoch);
    /// Claims a row that this transaction has made due.
    void claim_one(std::int64_t seq, std::int64_t epoch);
    /// Those of the rows that no other dispatcher has claimed, in order. No other claims them
    /// before the commit.
    result<std::vector<std::int64_t>> hold(std::span<const std::int64_t> seqs, std::int64_t epoch);

private:
    /// Rows that stand for no pending message any longer, as one that was closed while it was taken
    /// in.
    void remove_idle(const chosen_rows& chosen, const outbox_page& found);

    flow_walk flows_;
    due_rows due_;
    page_reader page_;
    statement epoch_;
    statement take_in_;
    statement claim_;
    statement remove_;
    statement hold_;
    statement let_go_;
    statement seats_;
};

}  // namespace posthorn::postgres
