#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "store/rules/old_rows_purge.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

class old_rows_sql final : public old_rows_purge<driver> {
public:
    /// `gives_back`: whether the file can be made smaller page by page.
    old_rows_sql(connection& database, bool gives_back);

    result<slice_outcome> give_back(const slice& room) override;
    /// INSERT OR REPLACE takes a row away without its trigger.
    result<slice_outcome> remove_orphans(const slice& room) override;

private:
    result<found> find_sent(wall_time before, std::size_t limit) override;
    result<std::size_t> remove_sent(std::span<const std::int64_t> keys) override;

    /// One of the tables beside the outbox, as far as it was looked through.
    struct beside {
        beside(connection& database, std::string_view find_sql, std::string_view remove_sql)
            : find(database, find_sql), remove(database, remove_sql) {}
        statement find;
        statement remove;
        std::int64_t after = std::numeric_limits<std::int64_t>::min();
    };
    static result<std::size_t> remove_orphans_of(beside& one, const slice& room);

    statement find_sent_;
    statement remove_attempts_;
    statement remove_message_;
    statement free_pages_;
    statement pages_;
    statement vacuum_;
    beside closed_;
    beside attempts_;
    beside ended_;
    bool gives_back_;
};

/// How many free pages a file keeps for what is written next. Pure.
[[nodiscard]] std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all);

}  // namespace posthorn::sqlite
