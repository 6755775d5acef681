#pragma once

#include <vector>

#include "store/old_rows.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

/// Old rows on the writer's connection.
///
/// Rows are deleted one by one: a single statement over a slice could not be stopped in time where
/// rows are large, without losing what it had done.
///
/// Lifetime: as its connection.
/// Threads:  the writer's.
class old_rows_sql final : public old_rows {
public:
    /// `gives_back`: whether the file can be made smaller page by page.
    old_rows_sql(connection& database, bool gives_back);

    result<slice_outcome> purge(row_kind kind, wall_time before, const slice& room) override;
    result<slice_outcome> give_back(const slice& room) override;

private:
    result<rows> begin(row_kind kind, wall_time before, std::size_t limit);
    result<> find(row_kind kind, wall_time before, std::size_t limit);
    result<> remove(row_kind kind, std::int64_t key);

    statement find_sent_;
    statement find_closed_;
    statement find_received_;
    statement find_changes_;
    statement remove_attempts_;
    statement remove_message_;
    statement remove_closed_message_;
    statement remove_closed_;
    statement remove_received_;
    statement remove_changes_;
    statement free_pages_;
    statement pages_;
    statement vacuum_;
    bool gives_back_;
    std::vector<std::int64_t> keys_;  // Of the present slice; kept for its memory.
};

/// How many free pages a file keeps for what is written next. Pure.
[[nodiscard]] std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all);

}  // namespace posthorn::sqlite
