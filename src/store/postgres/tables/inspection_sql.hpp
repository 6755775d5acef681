#pragma once

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/flows.hpp"
#include "store/rules/inspection_looks.hpp"

namespace posthorn::postgres {

/// What people ask of a store, through a reading connection.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class inspection_sql final : public inspection_looks<driver> {
public:
    explicit inspection_sql(connection& database);

    using inspection_looks::list;
    result<inbox_list> list(const inbox_filter& wanted) override;

private:
    result<message_list> list_down(const message_filter& wanted) override;
    result<std::vector<std::string>> destinations(std::size_t limit) override {
        return flows_.destinations(limit);
    }
    result<> look_at(destination_backlog& into, wall_time now,
                     const backlog_limits& limits) override;
    result<bool> look_at_rows(destination_backlog& into, statement& rows, wall_time now,
                              std::int64_t rows_max);

    flow_walk flows_;
    statement due_count_;
    statement first_due_;
    statement due_rows_;
    statement waiting_rows_;
    statement all_;
    statement pending_;
    statement closed_;
    statement inbox_list_;
};

}  // namespace posthorn::postgres
