#include "store/sqlite/tables/old_rows_sql.hpp"

#include <algorithm>

#include "store/outbox_table.hpp"
#include "store/rows/stored_time.hpp"

namespace posthorn::sqlite {
std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all) {
    // What is given back and taken again costs twice.
    constexpr std::int64_t kept_min = 1'024;
    constexpr std::int64_t kept_part = 10;
    return std::max<std::int64_t>(0, free - std::max(kept_min, (all - free) / kept_part));
}

old_rows_sql::old_rows_sql(connection& database, bool gives_back)
    // The second column: whether the row is old.
    : find_sent_(database, R"sql(
          SELECT seq, 1 FROM outbox_messages WHERE status = 'Sent' AND sent_at < ?1
          ORDER BY sent_at LIMIT ?2)sql"),
      find_closed_(database, R"sql(
          SELECT seq, 1 FROM outbox_closed WHERE status = ?3 AND at < ?1
          ORDER BY at LIMIT ?2)sql"),
      find_received_(database, R"sql(
          SELECT seq, 1 FROM inbox_messages WHERE expires_at < ?1
          ORDER BY expires_at LIMIT ?2)sql"),
      // In the order of their making, which is that of their times but for a clock that jumped.
      find_changes_(database, R"sql(
          SELECT change_seq, at < ?1 FROM changes WHERE change_seq > 0
          ORDER BY change_seq LIMIT ?2)sql"),
      remove_attempts_(database, "DELETE FROM outbox_attempts WHERE seq = ?"),
      remove_message_(database, "DELETE FROM outbox_messages WHERE seq = ?"),
      // A trigger takes along what belongs to it. What is not as the account says is left alone.
      remove_closed_message_(database,
                             "DELETE FROM outbox_messages WHERE seq = ?1 AND status = ?2"),
      remove_closed_(database, "DELETE FROM outbox_closed WHERE seq = ?"),
      remove_received_(database, "DELETE FROM inbox_messages WHERE seq = ?"),
      remove_changes_(database, "DELETE FROM changes WHERE change_seq = ?"),
      free_pages_(database, "PRAGMA freelist_count"),
      pages_(database, "PRAGMA page_count"),
      vacuum_(database, "PRAGMA incremental_vacuum"),
      gives_back_(gives_back) {}

result<rows> old_rows_sql::begin(row_kind kind, wall_time before, std::size_t limit) {
    switch (kind) {
        case row_kind::sent: return find_sent_.run(to_ms(before), limit);
        case row_kind::received: return find_received_.run(to_ms(before), limit);
        case row_kind::changes: return find_changes_.run(to_ms(before), limit);
        default: return find_closed_.run(to_ms(before), limit, closed_status_of(kind));
    }
}

result<> old_rows_sql::find(row_kind kind, wall_time before, std::size_t limit) {
    keys_.clear();
    std::size_t old = 0;
    POSTHORN_LET(found, begin(kind, before, limit));
    POSTHORN_TRY(found.each([&](const sql_row& row) {
        keys_.push_back(row.integer(0));
        if (row.integer(1) != 0) old = keys_.size();
    }));
    keys_.resize(old);  // Before an old one, those too that say a time yet to come.
    return {};
}

result<> old_rows_sql::remove(row_kind kind, std::int64_t key) {
    switch (kind) {
        case row_kind::received: POSTHORN_TRY(remove_received_.run(key)); return {};
        case row_kind::changes: POSTHORN_TRY(remove_changes_.run(key)); return {};
        case row_kind::sent:
            POSTHORN_TRY(remove_attempts_.run(key));
            POSTHORN_TRY(remove_message_.run(key));
            return {};
        case row_kind::dead:
        case row_kind::expired:
        case row_kind::resolved: break;
    }
    POSTHORN_TRY(remove_closed_message_.run(key, closed_status_of(kind)));
    POSTHORN_TRY(remove_closed_.run(key));
    return {};
}

result<slice_outcome> old_rows_sql::purge(row_kind kind, wall_time before, const slice& room) {
    POSTHORN_TRY(find(kind, before, room.rows()));
    slice_outcome done;
    for (const std::int64_t key : keys_) {
        if (done.rows > 0 && room.is_over()) break;
        POSTHORN_TRY(remove(kind, key));
        ++done.rows;
    }
    done.more = done.rows < keys_.size() || done.rows == room.rows();
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
