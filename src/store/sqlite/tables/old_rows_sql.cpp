#include "store/sqlite/tables/old_rows_sql.hpp"

#include <algorithm>

#include <sqlite3.h>

#include "store/outbox_table.hpp"
#include "store/sqlite/driver/prepare_all.hpp"
#include "store/sqlite/tables/outbox_insert.hpp"

namespace posthorn::sqlite {
namespace {

std::string_view status_of(row_kind kind) {
    switch (kind) {
        case row_kind::dead: return to_string(outbox_status::dead);
        case row_kind::expired: return to_string(outbox_status::expired);
        default: return to_string(outbox_status::resolved);
    }
}

}  // namespace

std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all) {
    // What is given back and taken again costs twice.
    constexpr std::int64_t kept_min = 1'024;
    constexpr std::int64_t kept_part = 10;
    return std::max<std::int64_t>(0, free - std::max(kept_min, (all - free) / kept_part));
}

result<old_rows_sql> old_rows_sql::open(connection& database) {
    constexpr std::int64_t incremental = 2;
    old_rows_sql table;
    POSTHORN_LET(mode, database.integer("PRAGMA auto_vacuum"));
    table.can_give_back_ = mode == incremental;
    POSTHORN_TRY(prepare_all(
        database,
        {// The second column: whether the row is old.
         {&table.find_sent_,
          "SELECT seq, 1 FROM outbox_messages WHERE status = 'Sent' AND sent_at < ?1"
          " ORDER BY sent_at LIMIT ?2"},
         {&table.find_closed_,
          "SELECT seq, 1 FROM outbox_closed WHERE status = ?3 AND at < ?1 ORDER BY at LIMIT ?2"},
         {&table.find_received_,
          "SELECT seq, 1 FROM inbox_messages WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2"},
         // In the order of their making, which is that of their times but for a clock that jumped.
         {&table.find_changes_,
          "SELECT change_seq, at < ?1 FROM changes WHERE change_seq > 0 ORDER BY change_seq"
          " LIMIT ?2"},
         {&table.remove_attempts_, "DELETE FROM outbox_attempts WHERE seq = ?"},
         {&table.remove_message_, "DELETE FROM outbox_messages WHERE seq = ?"},
         // A trigger takes along what belongs to it. What is not as the account says is left alone.
         {&table.remove_closed_message_,
          "DELETE FROM outbox_messages WHERE seq = ?1 AND status = ?2"},
         {&table.remove_closed_, "DELETE FROM outbox_closed WHERE seq = ?"},
         {&table.remove_received_, "DELETE FROM inbox_messages WHERE seq = ?"},
         {&table.remove_changes_, "DELETE FROM changes WHERE change_seq = ?"},
         {&table.free_pages_, "PRAGMA freelist_count"},
         {&table.pages_, "PRAGMA page_count"},
         {&table.vacuum_, "PRAGMA incremental_vacuum"}}));
    return table;
}

result<> old_rows_sql::find(row_kind kind, wall_time before, std::size_t limit) {
    const auto statement_of = [&]() -> statement& {
        switch (kind) {
            case row_kind::sent: return find_sent_;
            case row_kind::received: return find_received_;
            case row_kind::changes: return find_changes_;
            default: return find_closed_;
        }
    };
    auto& find = statement_of();
    const reset_at_end reset(find);
    find.bind(1, to_ms(before));
    find.bind(2, static_cast<std::int64_t>(limit));
    if (find.parameters() == 3) find.bind(3, status_of(kind));
    keys_.clear();
    std::size_t old = 0;
    for (;;) {
        POSTHORN_LET(row, find.step());
        if (!row) break;
        keys_.push_back(find.integer(0));
        if (find.integer(1) != 0) old = keys_.size();
    }
    keys_.resize(old);  // Before an old one, those too that say a time yet to come.
    return {};
}

result<> old_rows_sql::remove(row_kind kind, std::int64_t key) {
    const auto run = [key](statement& with) {
        with.bind(1, key);
        return with.run();
    };
    switch (kind) {
        case row_kind::received: return run(remove_received_);
        case row_kind::changes: return run(remove_changes_);
        case row_kind::sent: POSTHORN_TRY(run(remove_attempts_)); return run(remove_message_);
        case row_kind::dead:
        case row_kind::expired:
        case row_kind::resolved: break;
    }
    remove_closed_message_.bind(2, status_of(kind));
    POSTHORN_TRY(run(remove_closed_message_));
    return run(remove_closed_);
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
    if (!can_give_back_) return slice_outcome{};
    const auto count = [](statement& asked) -> result<std::int64_t> {
        const reset_at_end reset(asked);
        POSTHORN_TRY(asked.step());
        return asked.integer(0);
    };
    const auto free = count(free_pages_);
    POSTHORN_TRY(free);
    const auto all = count(pages_);
    POSTHORN_TRY(all);
    const auto wanted = static_cast<std::size_t>(pages_to_give_back(*free, *all));
    slice_outcome done;
    const reset_at_end reset(vacuum_);
    while (done.rows < std::min(wanted, room.rows()) && (done.rows == 0 || !room.is_over())) {
        const auto page = vacuum_.step();  // A row for each page.
        if (!page) return std::unexpected(page.error());
        if (!*page) return done;
        ++done.rows;
    }
    done.more = done.rows < wanted;
    return done;
}

}  // namespace posthorn::sqlite
