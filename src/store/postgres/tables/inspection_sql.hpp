#pragma once

#include "store/inspection.hpp"
#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/flows.hpp"

namespace posthorn::postgres {

/// What people ask of a store, through a reading connection.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class inspection_sql final : public store_inspector {
public:
    explicit inspection_sql(connection& database);

    result<bounded_count> count(outbox_status status, std::int64_t at_most) override;
    result<backlog_report> backlog(wall_time now, const backlog_limits& limits) override;
    result<message_list> list(const message_filter& wanted) override;
    result<std::optional<message_detail>> show(const uuid& id, bool with_payload) override;
    result<bounded_count> inbox_size(std::int64_t at_most) override;
    result<inbox_list> list(const inbox_filter& wanted) override;

private:
    result<destination_backlog> backlog_of(std::string name, wall_time now,
                                           const backlog_limits& limits);
    result<bool> look_at(destination_backlog& into, statement& rows, wall_time now,
                         std::int64_t rows_max);

    flow_walk flows_;
    statement count_pending_;
    statement count_sent_;
    statement count_closed_;
    statement due_count_;
    statement first_due_;
    statement due_rows_;
    statement waiting_rows_;
    statement all_;
    statement pending_;
    statement closed_;
    statement show_;
    statement attempts_;
    statement inbox_count_;
    statement inbox_ends_;
    statement inbox_list_;
};

}  // namespace posthorn::postgres
