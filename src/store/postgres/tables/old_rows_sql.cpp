#include "store/postgres/tables/old_rows_sql.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::size_t rows_per_find = 10;  // Looked at for each one wanted.

}  // namespace

old_rows_sql::old_rows_sql(connection& database, const clock& time)
    : old_rows_purge(database, time), find_sent_(database, R"sql(
          SELECT seq, status = 'Sent' AND sent_at < $1 FROM {s}.outbox_messages
          WHERE seq > $3
          ORDER BY seq LIMIT $2)sql") {}

result<old_rows_sql::found> old_rows_sql::find_sent(wall_time before, std::size_t limit) {
    found old;
    const auto looked_at_max = static_cast<std::int64_t>(limit * rows_per_find);
    for (const bool again : {false, true}) {
        POSTHORN_LET(seen, find_sent_.run(to_ms(before), looked_at_max, sent_after_));
        for (int i = 0; i < seen.size() && old.keys.size() < limit; ++i) {
            const auto row = seen[i];
            if (row.integer(1) != 0) old.keys.push_back(row.integer(0));
            if (old.keys.empty()) sent_after_ = row.integer(0);
        }
        old.more = old.keys.size() == limit || seen.size() == looked_at_max;
        // Past the end: what was too young before may be old by now.
        if (!old.keys.empty() || seen.size() == looked_at_max || again || sent_after_ == 0) break;
        sent_after_ = 0;
    }
    if (!old.more) sent_after_ = 0;
    return old;
}

}  // namespace posthorn::postgres
