#include "store/postgres/tables/old_rows_sql.hpp"

#include "store/postgres/tables/beside_tables.hpp"

namespace posthorn::postgres {
namespace {

constexpr std::size_t rows_per_find = 10;  // Looked at for each one wanted.

}  // namespace

old_rows_sql::old_rows_sql(connection& database, const clock& time)
    : old_rows_purge(
          database,
          {.find =
               {.closed = R"sql(
          SELECT seq, true FROM {s}.outbox_closed
          WHERE status = $3 AND at < $1
          ORDER BY at, seq LIMIT $2)sql",
                .received = R"sql(
          SELECT seq, true FROM {s}.inbox_messages
          WHERE expires_at < $1
          ORDER BY expires_at, seq LIMIT $2)sql",
                // In the order of their making, which is that of their times but for a clock that jumped.
                .changes = R"sql(
          SELECT change_seq, at < $1 FROM {s}.changes
          ORDER BY change_seq LIMIT $2)sql"},
           // Triggers take along what belongs to it. What is not as the account says is left alone.
           .remove = {.closed_message = R"sql(
          DELETE FROM {s}.outbox_messages
          WHERE seq = ANY ($1::bigint[]) AND status = $2)sql",
                      .closed = R"sql(
          DELETE FROM {s}.outbox_closed AS c WHERE seq = ANY ($1::bigint[]) AND NOT EXISTS
              (SELECT 1 FROM {s}.outbox_messages AS m WHERE m.seq = c.seq AND m.status = c.status))sql",
                      .received = "DELETE FROM {s}.inbox_messages WHERE seq = ANY ($1::bigint[])",
                      .changes = "DELETE FROM {s}.changes WHERE change_seq = ANY ($1::bigint[])"},
           .shorten = R"sql(
          UPDATE {s}.inbox_messages SET expires_at = found.until + $1::bigint
          FROM (SELECT seq, CASE WHEN few.ahead THEN least(coalesce(processed_at, 0), $2::bigint)
                  ELSE coalesce(processed_at, 0) END AS until
              FROM {s}.inbox_messages, (SELECT (SELECT count(*) FROM (SELECT 1
                      FROM {s}.inbox_messages WHERE expires_at > $2::bigint + $1::bigint
                      LIMIT 1000) AS later)
                  < (SELECT count(*) FROM (SELECT 1 FROM {s}.inbox_messages
                      WHERE expires_at BETWEEN $2::bigint AND $2::bigint + $1::bigint
                      LIMIT 1000) AS usual) AS ahead) AS few
              WHERE expires_at > $2::bigint + $1::bigint
                  AND (few.ahead OR coalesce(processed_at, 0) < expires_at - $1::bigint)
              ORDER BY expires_at DESC LIMIT $3) AS found
          WHERE inbox_messages.seq = found.seq)sql"}),
      find_sent_(database, R"sql(
          SELECT seq, status = 'Sent' AND sent_at < $1 FROM {s}.outbox_messages
          WHERE seq > $3
          ORDER BY seq LIMIT $2)sql"),
      remove_message_(database, "DELETE FROM {s}.outbox_messages WHERE seq = ANY ($1::bigint[])"),
      time_(time),
      beside_(database, {tables_beside(beside_fault::odd), tables_beside(beside_fault::lost)}) {}

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
