#pragma once

#include "store/outbox_rows.hpp"
#include "store/postgres/connection.hpp"
#include "store/postgres/due_rows.hpp"

namespace posthorn::postgres {

/// Makes a page of due messages of the rows that were chosen for it.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class page_reader {
public:
    page_reader(connection& database, outbox_rules rules);

    result<outbox_page> read(const due_rows::choice& chosen);

private:
    void read_into(outbox_page& page, const sql_row& from) const;

    outbox_rules rules_;
    statement many_;
};

}  // namespace posthorn::postgres
