#include "store/sqlite/tables/old_rows_sql.hpp"

#include <algorithm>
#include <utility>

#include "store/sqlite/schema/status_sql.hpp"

namespace posthorn::sqlite {
namespace {

// Each gives a number, and whether it is an orphan. By the index of closed messages, since the
// status of a message stands behind its payload.
constexpr auto closed_orphans = joined(R"sql(
    SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_messages INDEXED BY idx_outbox_closed
        WHERE outbox_messages.status = outbox_closed.status
          AND outbox_messages.seq = outbox_closed.seq AND )sql",
                                       is_closed("outbox_messages.status"), R"sql()
    FROM outbox_closed WHERE seq > ?1 ORDER BY seq LIMIT ?2)sql");

}  // namespace

std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all) {
    // What is given back and taken again costs twice.
    constexpr std::int64_t kept_min = 1'024;
    constexpr std::int64_t kept_part = 10;
    return std::max<std::int64_t>(0, free - std::max(kept_min, (all - free) / kept_part));
}

old_rows_sql::old_rows_sql(connection& database, bool gives_back)
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
          SELECT change_seq, at < ?1 FROM changes WHERE change_seq > 0
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
          UPDATE inbox_messages SET expires_at = coalesce(processed_at, 0) + ?1
          WHERE seq IN (SELECT seq FROM inbox_messages WHERE expires_at > ?2
              AND coalesce(processed_at, 0) < expires_at - ?1
              ORDER BY expires_at DESC LIMIT ?3))sql"}),
      find_sent_(database, R"sql(
          SELECT seq, 1 FROM outbox_messages WHERE status = 'Sent' AND sent_at < ?1
          ORDER BY sent_at LIMIT ?2)sql"),
      remove_attempts_(database, "DELETE FROM outbox_attempts WHERE seq = ?"),
      remove_message_(database, "DELETE FROM outbox_messages WHERE seq = ?"),
      free_pages_(database, "PRAGMA freelist_count"),
      pages_(database, "PRAGMA page_count"),
      vacuum_(database, "PRAGMA incremental_vacuum"),
      closed_(database, closed_orphans, "DELETE FROM outbox_closed WHERE seq = ?"),
      attempts_(database, R"sql(
          SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_messages
              WHERE outbox_messages.seq = outbox_attempts.seq)
          FROM outbox_attempts WHERE seq > ?1 GROUP BY seq ORDER BY seq LIMIT ?2)sql",
                "DELETE FROM outbox_attempts WHERE seq = ?"),
      ended_(database, R"sql(
          SELECT seq, NOT EXISTS (SELECT 1 FROM outbox_messages
              WHERE outbox_messages.seq = outbox_ended.seq)
          FROM outbox_ended WHERE seq > ?1 ORDER BY seq LIMIT ?2)sql",
             "DELETE FROM outbox_ended WHERE seq = ?"),
      gives_back_(gives_back) {}

result<old_rows_sql::found> old_rows_sql::find_sent(wall_time before, std::size_t limit) {
    POSTHORN_LET(seen, find_sent_.run(to_ms(before), limit));
    return collect(std::move(seen), limit);
}

result<std::size_t> old_rows_sql::remove_sent(std::span<const std::int64_t> keys) {
    POSTHORN_TRY(remove_attempts_.run(driver::numbers(keys)));
    return rows_changed(remove_message_, driver::numbers(keys));
}

result<std::size_t> old_rows_sql::remove_orphans_of(beside& one, const slice& room) {
    std::vector<std::int64_t> orphans;
    std::size_t looked_at = 0;
    {
        POSTHORN_LET(seen, one.find.run(one.after, room.rows()));
        POSTHORN_TRY(seen.each([&](const sql_row& row) {
            ++looked_at;
            one.after = row.integer(0);
            if (row.integer(1) != 0) orphans.push_back(one.after);
        }));
    }
    for (const auto seq : orphans) POSTHORN_TRY(one.remove.run(seq));
    if (looked_at < room.rows()) one.after = std::numeric_limits<std::int64_t>::min();
    return orphans.size();
}

result<slice_outcome> old_rows_sql::remove_orphans(const slice& room) {
    slice_outcome done;
    for (auto* const one : {&closed_, &attempts_, &ended_}) {
        POSTHORN_LET(removed, remove_orphans_of(*one, room));
        done.rows += removed;
    }
    return done;
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
