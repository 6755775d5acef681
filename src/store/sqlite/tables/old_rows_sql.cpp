#include "store/sqlite/tables/old_rows_sql.hpp"

#include <algorithm>
#include <utility>

namespace posthorn::sqlite {
std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all) {
    // What is given back and taken again costs twice.
    constexpr std::int64_t kept_min = 1'024;
    constexpr std::int64_t kept_part = 10;
    return std::max<std::int64_t>(0, free - std::max(kept_min, (all - free) / kept_part));
}

old_rows_sql::old_rows_sql(connection& database, const clock& time, const file_care& file)
    : old_rows_purge(database, time),
      remove_attempts_(database, "DELETE FROM outbox_attempts WHERE seq = ?"),
      free_pages_(database, "PRAGMA freelist_count"),
      pages_(database, "PRAGMA page_count"),
      vacuum_(database, "PRAGMA incremental_vacuum"),
      gives_back_(file.gives_back) {}

result<std::size_t> old_rows_sql::remove_sent(numbers keys) {
    POSTHORN_TRY(remove_attempts_.run(driver::numbers(keys)));
    return old_rows_purge::remove_sent(keys);
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
