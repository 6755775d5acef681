#pragma once

#include <cstdint>

#include "store/rules/old_rows_purge.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/tables/file_care.hpp"

namespace posthorn::sqlite {

class old_rows_sql final : public old_rows_purge<driver> {
public:
    old_rows_sql(connection& database, const clock& time, const file_care& file);

    result<slice_outcome> give_back(const slice& room) override;

private:
    result<std::size_t> remove_sent(numbers keys) override;

    statement remove_attempts_;
    statement free_pages_;
    statement pages_;
    statement vacuum_;
    bool gives_back_;
};

/// How many free pages a file keeps for what is written next. Pure.
[[nodiscard]] std::int64_t pages_to_give_back(std::int64_t free, std::int64_t all);

}  // namespace posthorn::sqlite
