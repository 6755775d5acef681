#pragma once

#include <memory>

#include "store/commit/lent.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/tables/dead_letters_reading.hpp"
#include "store/sqlite/tables/inbox_sql.hpp"
#include "store/sqlite/tables/inspection_sql.hpp"
#include "store/sqlite/tables/outbox_sql.hpp"
#include "store/store.hpp"

namespace posthorn::sqlite {

/// One reading connection, as those who look see it.
class reader final : public store_reader {
public:
    static result<std::unique_ptr<reader>> open(const open_options& options, outbox_rules rules);

    outbox_reader& outbox() override { return outbox_; }
    inbox_reader& inbox() override { return inbox_; }
    store_inspector& inspect() override { return inspection_; }
    dead_letter_reader& dead_letters() override { return dead_letters_; }
    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const store_transaction::row_visitor& visit) override;

    /// Runs `look` on one snapshot.
    result<> read(const std::function<result<>(store_reader&)>& look);
    [[nodiscard]] connection& database() noexcept { return database_; }

private:
    reader(connection database, outbox_rules rules);

    connection database_;
    statement_cache cache_;
    statement begin_;
    statement end_;
    outbox_reading outbox_;
    inbox_reading inbox_;
    inspection_sql inspection_;
    dead_letters_reading dead_letters_;
};

/// A few reading connections, lent out one at a time.
///
/// Threads: any; who finds none free waits.
class reader_pool {
public:
    static result<std::unique_ptr<reader_pool>> open(const open_options& options,
                                                     const outbox_rules& rules, std::size_t count);

    result<> read(const std::function<result<>(store_reader&)>& look);
    /// Every page, every index.
    result<> check(bool thorough);

private:
    reader_pool() = default;

    lent<reader> readers_;
};

}  // namespace posthorn::sqlite
