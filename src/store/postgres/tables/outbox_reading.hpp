#pragma once

#include "store/outbox_table.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/due_rows.hpp"
#include "store/postgres/tables/flows.hpp"
#include "store/postgres/tables/outbox_rows.hpp"
#include "store/postgres/tables/page_reader.hpp"
#include "store/rules/outbox_looks.hpp"

namespace posthorn::postgres {

/// The outbox as a reading connection sees it.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class outbox_reading final : public outbox_looks<driver, flow_walk, due_rows> {
public:
    outbox_reading(connection& database, outbox_rules rules);

    /// Whether others have committed what only `outbox_claims::take_in` makes known to the rest.
    result<bool> has_arrivals();
    result<expired_slice> expired(const expired_question& asked) override;
    result<unblocked_slice> unblocked(const std::optional<order_scope>& after,
                                      std::size_t keys_max) override;

private:
    result<outbox_page> read_page(const chosen_rows& chosen, std::size_t bytes_max) override {
        return page_.read(chosen, bytes_max);
    }

    page_reader page_;
    statement arrivals_;
    statement expired_;
    statement expired_after_;
    statement expired_rows_;
    statement keys_;
    statement keys_after_;
};

}  // namespace posthorn::postgres
