#pragma once

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/due_rows.hpp"
#include "store/rows/outbox_rows.hpp"

namespace posthorn::postgres {

/// Makes a page of due messages of the rows that were chosen for it.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class page_reader {
public:
    page_reader(connection& database, outbox_rules rules);

    result<outbox_page> read(const chosen_rows& chosen);

private:
    void read_into(outbox_page& page, const sql_row& from) const;

    outbox_rules rules_;
    statement many_;
};

}  // namespace posthorn::postgres
