#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include <posthorn/detail/sql.hpp>

#include "base/result.hpp"
#include "store/inbox_table.hpp"
#include "store/lease_table.hpp"
#include "store/old_rows.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

class dead_letter_table;

/// An open write transaction, as a unit of work sees it.
///
/// Lifetime: the unit's run; never kept.
/// Threads:  the writer's, inside the unit.
class store_transaction {
public:
    using row_visitor = std::function<void(const sql_row&)>;

    virtual ~store_transaction() = default;

    /// The number of rows changed. Transaction control, ATTACH and PRAGMA are refused.
    virtual result<std::int64_t> execute(std::string_view sql, std::span<const sql_param> with) = 0;
    /// A statement of which nothing is wanted back. A database that is far away need not be waited
    /// for: a failure may show with a later statement, or at the end of the unit.
    virtual result<> run(std::string_view sql, std::span<const sql_param> with) = 0;
    virtual result<> query(std::string_view sql, std::span<const sql_param> with,
                           const row_visitor& visit) = 0;

    virtual outbox_table& outbox() = 0;
    virtual inbox_table& inbox() = 0;
    virtual lease_table& leases() = 0;
    virtual dead_letter_table& dead_letters() = 0;
    virtual old_rows& old() = 0;
    /// Waits until no other transaction is at the same thing of a table, and keeps others waiting
    /// from there to the end of this one. For statements that choose rows for one worker alone.
    virtual result<> take_turn(std::string_view table, std::string_view thing) = 0;
    /// Lets `commit_listener::announced` be told once this is on disk, though nothing is enqueued.
    virtual void announce() {}
};

}  // namespace posthorn
