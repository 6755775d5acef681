#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "store/postgres/driver/connection.hpp"
#include "store/postgres/tables/due_rows.hpp"
#include "store/rows/outbox_rows.hpp"

namespace posthorn::postgres {

/// Makes a page of due messages of the rows that were chosen for it.
///
/// An answer of the server comes as a whole. So a row is asked for only if it has no more than its
/// share of the page; of those that have more, which are few if any, the sizes are asked for first.
///
/// Lifetime: as its connection.
/// Threads:  its connection's.
class page_reader {
public:
    page_reader(connection& database, outbox_rules rules);

    /// In the order chosen, as far as `bytes_max` goes.
    result<outbox_page> read(const chosen_rows& chosen, std::size_t bytes_max);

private:
    /// By number; why it is not a message, if it is none.
    using found_rows = std::map<std::int64_t, result<outbox_row>>;

    /// Those that have at most so many bytes; gives the bytes of all of them.
    result<std::int64_t> read_some(found_rows& into, std::span<const std::int64_t> seqs,
                                   std::int64_t bytes_each_max);
    /// Of those that have more than their share, as many as there is room for, and one in any case.
    /// Gives whether these were all.
    result<bool> read_large(found_rows& into, std::span<const std::int64_t> seqs,
                            std::int64_t bytes_left);

    outbox_rules rules_;
    statement many_;
    statement sizes_;
};

}  // namespace posthorn::postgres
