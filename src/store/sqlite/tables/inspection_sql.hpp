#pragma once

#include "store/rules/inspection_looks.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/flow_walk.hpp"

namespace posthorn::sqlite {

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
    /// A page under way.
    struct search;
    struct backlog_count;

    result<message_list> list_down(const message_filter& wanted) override;
    result<message_list> list_pending(const message_filter& wanted);
    static result<message_list> walk(rows from, const message_filter& wanted);
    result<std::vector<std::int64_t>> pending_seqs(std::string_view destination);
    result<std::vector<std::string>> destinations(std::size_t limit) override;
    result<> look_at(destination_backlog& into, wall_time now,
                     const backlog_limits& limits) override;
    result<> add_flow(destination_backlog& into, backlog_count& so_far, const flow& of,
                      const backlog_limits& limits);
    static result<> look_at_rows(destination_backlog& into, rows& flow_rows, wall_time now,
                                 std::int64_t& rows_left);

    flow_walk flows_;
    statement due_count_;
    statement waiting_count_;
    statement due_rows_;
    statement waiting_rows_;
    statement since_;
    statement all_;
    statement closed_;
    statement pending_;
    statement pending_of_;
    statement one_;
    statement inbox_list_;
};

}  // namespace posthorn::sqlite
