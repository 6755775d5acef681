#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/order_keys.hpp"
#include "store/postgres/tables/outbox_claims.hpp"
#include "store/postgres/tables/outbox_rows.hpp"
#include "store/rules/outbox_changes.hpp"
#include "store/rules/table_neighbours.hpp"

namespace posthorn::postgres {

class outbox_sql final : public outbox_changes<driver, table_neighbours<driver, order_keys>> {
public:
    outbox_sql(connection& database, const clock& time,
               const table_neighbours<driver, order_keys>& others, outbox_claims& claims);

    result<std::int64_t> settle(std::span<const settlement> outcomes, std::int64_t epoch) override;

    /// The epoch that the session's rows are stored under; zero for none.
    void claim_as(std::int64_t epoch) noexcept { claims_as_ = epoch; }

private:
    result<inserted_row> insert_row(const message& body) override;
    void await_others(const message& body) override;
    result<> settle_sent(std::span<const settlement> outcomes, std::int64_t epoch,
                         settled_rows& settled);
    result<std::vector<std::int64_t>> held_of_rest(std::span<const settlement> outcomes,
                                                   std::int64_t epoch);
    result<> park(std::span<const settlement> outcomes, std::span<const std::int64_t> ours,
                  settled_rows& settled);

    outbox_claims& claims_;
    std::int64_t claims_as_ = 0;
    statement insert_;
    statement lock_dedupe_;
    statement send_;
    statement unsent_;
    statement is_stored_;
};

}  // namespace posthorn::postgres
