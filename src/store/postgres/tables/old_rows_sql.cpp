#include "store/postgres/tables/old_rows_sql.hpp"

#include <algorithm>

#include "store/outbox_table.hpp"
#include "store/postgres/tables/outbox_rows.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::size_t rows_per_find = 10;     // Looked at for each one wanted.
constexpr std::size_t rows_per_delete = 100;  // In one statement, between two looks at the time.

}  // namespace

old_rows_sql::old_rows_sql(connection& database)
    : find_sent_(database, R"sql(
          SELECT seq, status = 'Sent' AND sent_at < $1 FROM {s}.outbox_messages
          WHERE seq > $3
          ORDER BY seq LIMIT $2)sql"),
      find_closed_(database, R"sql(
          SELECT seq FROM {s}.outbox_closed
          WHERE status = $3 AND at < $1
          ORDER BY at, seq LIMIT $2)sql"),
      find_received_(database, R"sql(
          SELECT seq FROM {s}.inbox_messages
          WHERE expires_at < $1
          ORDER BY expires_at, seq LIMIT $2)sql"),
      // In the order of their making, which is that of their times but for a clock that jumped.
      find_changes_(database, R"sql(
          SELECT change_seq, at < $1 FROM {s}.changes
          ORDER BY change_seq LIMIT $2)sql"),
      remove_message_(database, "DELETE FROM {s}.outbox_messages WHERE seq = ANY ($1::bigint[])"),
      // Triggers take along what belongs to it. What is not as the account says is left alone.
      remove_closed_message_(database, R"sql(
          DELETE FROM {s}.outbox_messages
          WHERE seq = ANY ($1::bigint[]) AND status = $2)sql"),
      remove_closed_(database, "DELETE FROM {s}.outbox_closed WHERE seq = ANY ($1::bigint[])"),
      remove_received_(database, "DELETE FROM {s}.inbox_messages WHERE seq = ANY ($1::bigint[])"),
      remove_changes_(database, "DELETE FROM {s}.changes WHERE change_seq = ANY ($1::bigint[])") {}

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

result<old_rows_sql::found> old_rows_sql::find(row_kind kind, wall_time before, std::size_t limit) {
    if (kind == row_kind::sent) return find_sent(before, limit);
    const auto count = static_cast<std::int64_t>(limit);
    POSTHORN_LET(seen, kind == row_kind::received ? find_received_.run(to_ms(before), count)
                       : kind == row_kind::changes
                           ? find_changes_.run(to_ms(before), count)
                           : find_closed_.run(to_ms(before), count, closed_status_of(kind)));
    found old;
    std::size_t last_old = 0;
    for (int i = 0; i < seen.size(); ++i) {
        const auto row = seen[i];
        old.keys.push_back(row.integer(0));
        if (kind != row_kind::changes || row.integer(1) != 0) last_old = old.keys.size();
    }
    old.keys.resize(last_old);  // Before an old one, those too that say a time yet to come.
    old.more = old.keys.size() == limit;
    return old;
}

result<> old_rows_sql::remove(row_kind kind, std::span<const std::int64_t> keys) {
    switch (kind) {
        case row_kind::received: POSTHORN_TRY(remove_received_.run(keys)); return {};
        case row_kind::changes: POSTHORN_TRY(remove_changes_.run(keys)); return {};
        case row_kind::sent: POSTHORN_TRY(remove_message_.run(keys)); return {};
        case row_kind::dead:
        case row_kind::expired:
        case row_kind::resolved: break;
    }
    remove_closed_message_.defer(keys, closed_status_of(kind));
    POSTHORN_TRY(remove_closed_.run(keys));
    return {};
}

result<slice_outcome> old_rows_sql::purge(row_kind kind, wall_time before, const slice& room) {
    POSTHORN_LET(old, find(kind, before, room.rows()));
    slice_outcome done;
    while (done.rows < old.keys.size()) {
        if (done.rows > 0 && room.is_over()) break;
        // Few at first: rows may be large.
        const auto count = std::min(std::clamp<std::size_t>(done.rows / 4, 1, rows_per_delete),
                                    old.keys.size() - done.rows);
        POSTHORN_TRY(remove(kind, std::span(old.keys).subspan(done.rows, count)));
        done.rows += count;
    }
    done.more = done.rows < old.keys.size() || old.more;
    return done;
}

}  // namespace posthorn::postgres
