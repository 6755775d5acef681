#include "store/sqlite/tables/old_rows_sql.hpp"

#include <algorithm>
#include <utility>

#include "store/sqlite/tables/beside_tables.hpp"

namespace posthorn::sqlite {
std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all) {
    // What is given back and taken again costs twice.
    constexpr std::int64_t kept_min = 1'024;
    constexpr std::int64_t kept_part = 10;
    return std::max<std::int64_t>(0, free - std::max(kept_min, (all - free) / kept_part));
}

old_rows_sql::old_rows_sql(connection& database, const clock& time, bool gives_back)
    : old_rows_purge(
          database,
          {.find =
               {.closed = R"sql(
          SELECT seq, 1 FROM outbox_closed WHERE status = ?3 AND at < ?1
          ORDER BY at LIMIT ?2)sql",
                .received = R"sql(
          SELECT seq, 1 FROM inbox_messages WHERE expires_at < ?1
          ORDER BY expires_at LIMIT ?2)sql",
                // In the order of their making, which is that of their times but for a clock that jumped.
                .changes = R"sql(
          SELECT change_seq, at < ?1 FROM changes WHERE change_seq > -9223372036854775808
          ORDER BY change_seq LIMIT ?2)sql"},
           // A trigger takes along what belongs to it. What is not as the account says is left alone.
           .remove = {.closed_message =
                          "DELETE FROM outbox_messages WHERE seq = ?1 AND status = ?2",
                      .closed = R"sql(
          DELETE FROM outbox_closed WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM outbox_messages
              WHERE seq = ?1 AND status = outbox_closed.status))sql",
                      .received = "DELETE FROM inbox_messages WHERE seq = ?",
                      .changes = "DELETE FROM changes WHERE change_seq = ?"},
           .shorten = R"sql(
          UPDATE inbox_messages SET expires_at = found.until + ?1
          FROM (SELECT seq, CASE WHEN few.ahead THEN min(coalesce(processed_at, 0), ?2)
                  ELSE coalesce(processed_at, 0) END AS until
              FROM inbox_messages, (SELECT (SELECT count(*) FROM (SELECT 1 FROM inbox_messages
                      WHERE expires_at > ?2 + ?1 LIMIT 1000))
                  < (SELECT count(*) FROM (SELECT 1 FROM inbox_messages
                      WHERE expires_at BETWEEN ?2 AND ?2 + ?1 LIMIT 1000)) AS ahead) AS few
              WHERE expires_at > ?2 + ?1
                  AND (few.ahead OR coalesce(processed_at, 0) < expires_at - ?1)
              ORDER BY expires_at DESC LIMIT ?3) AS found
          WHERE inbox_messages.seq = found.seq)sql"}),
      find_sent_(database, R"sql(
          SELECT seq, 1 FROM outbox_messages WHERE status = 'Sent' AND sent_at < ?1
          ORDER BY sent_at LIMIT ?2)sql"),
      remove_attempts_(database, "DELETE FROM outbox_attempts WHERE seq = ?"),
      remove_message_(database, "DELETE FROM outbox_messages WHERE seq = ?"),
      free_pages_(database, "PRAGMA freelist_count"),
      pages_(database, "PRAGMA page_count"),
      vacuum_(database, "PRAGMA incremental_vacuum"),
      time_(time),
      beside_(database, {tables_beside(beside_fault::odd), tables_beside(beside_fault::lost)}),
      gives_back_(gives_back) {}

result<old_rows_sql::found> old_rows_sql::find_sent(wall_time before, std::size_t limit) {
    POSTHORN_LET(seen, find_sent_.run(to_ms(before), limit));
    return collect(std::move(seen), limit);
}

result<std::size_t> old_rows_sql::remove_sent(std::span<const std::int64_t> keys) {
    POSTHORN_TRY(remove_attempts_.run(driver::numbers(keys)));
    return rows_changed(remove_message_, driver::numbers(keys));
}

result<slice_outcome> old_rows_sql::give_back(const slice& room) {
    if (!gives_back_) return slice_outcome{};
    const auto count = [](statement& asked) -> result<std::int64_t> {
        POSTHORN_LET(counted, asked.run());
        return counted.front().integer(0);
    };
    const auto free = count(free_pages_);
    POSTHORN_TRY(free);
    const auto all = count(pages_);
    POSTHORN_TRY(all);
    const auto wanted = static_cast<std::size_t>(pages_to_give_back(*free, *all));
    slice_outcome done;
    done.more = wanted > 0;
    if (wanted == 0 || room.rows() == 0) return done;
    POSTHORN_LET(pages, vacuum_.run());  // A row for each page.
    do {
        POSTHORN_LET(page, pages.next());
        if (page == nullptr) return slice_outcome{.rows = done.rows};
        ++done.rows;
    } while (done.rows < std::min(wanted, room.rows()) && !room.is_over());
    done.more = done.rows < wanted;
    return done;
}

}  // namespace posthorn::sqlite
