#pragma once

#include <cstdint>
#include <span>

#include "store/rules/beside_walk.hpp"
#include "store/rules/old_rows_purge.hpp"
#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

class old_rows_sql final : public old_rows_purge<driver> {
public:
    /// `gives_back`: whether the file can be made smaller page by page.
    old_rows_sql(connection& database, const clock& time, bool gives_back);

    result<slice_outcome> give_back(const slice& room) override;
    /// INSERT OR REPLACE, for one, takes a row away without its trigger.
    result<slice_outcome> mend_beside(const slice& room) override {
        return beside_.go_on(time_.wall(), room);
    }

private:
    result<found> find_sent(wall_time before, std::size_t limit) override;
    result<std::size_t> remove_sent(std::span<const std::int64_t> keys) override;

    statement find_sent_;
    statement remove_attempts_;
    statement remove_message_;
    statement free_pages_;
    statement pages_;
    statement vacuum_;
    const clock& time_;
    beside_walk<driver> beside_;
    bool gives_back_;
};

/// How many free pages a file keeps for what is written next. Pure.
[[nodiscard]] std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all);

}  // namespace posthorn::sqlite
