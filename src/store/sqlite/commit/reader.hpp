#pragma once

#include <functional>
#include <memory>

#include "store/commit/table_reader.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/tables/inspection_sql.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"
#include "store/store.hpp"

namespace posthorn::sqlite {

/// One reading connection, as those who look see it.
class reader final : public table_reader<driver, outbox_reading> {
public:
    static result<std::unique_ptr<reader>> open(const open_options& options,
                                                const outbox_rules& rules);

    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const store_transaction::row_visitor& visit) override {
        return cache_.run(sql, with, visit);
    }
    /// Runs `look` on one snapshot.
    result<> read(const std::function<result<>(store_reader&)>& look);
    [[nodiscard]] static bool is_lost() noexcept { return false; }

private:
    reader(std::unique_ptr<connection> database, const outbox_rules& rules);

    statement_cache cache_;
    statement begin_;
    statement end_;
};

/// Looks at every page, and at every index if it is to be thorough.
result<> check_pages(store_reader& from, bool thorough);

}  // namespace posthorn::sqlite
