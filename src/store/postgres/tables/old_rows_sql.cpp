#include "store/postgres/tables/old_rows_sql.hpp"

#include <utility>

namespace posthorn::postgres {
namespace {

constexpr std::size_t rows_per_find = 10;  // Looked at for each one wanted.

}  // namespace

result<old_rows_sql::found> old_rows_sql::find_sent(wall_time before, std::size_t limit) {
    found old;
    const auto looked_at_max = limit * rows_per_find;
    for (const bool again : {false, true}) {
        POSTHORN_LET(seen, look_for_sent(before, looked_at_max, sent_after_));
        for (int i = 0; i < seen.size() && old.keys.size() < limit; ++i) {
            const auto row = seen[i];
            if (row.integer(1) != 0) old.keys.push_back(row.integer(0));
            if (old.keys.empty()) sent_after_ = row.integer(0);
        }
        old.more = old.keys.size() == limit || std::cmp_equal(seen.size(), looked_at_max);
        // Past the end: what was too young before may be old by now.
        if (!old.keys.empty() || std::cmp_equal(seen.size(), looked_at_max) || again ||
            sent_after_ == 0)
            break;
        sent_after_ = 0;
    }
    if (!old.more) sent_after_ = 0;
    return old;
}

}  // namespace posthorn::postgres
