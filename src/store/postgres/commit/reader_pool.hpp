#pragma once

#include <functional>
#include <memory>

#include "store/commit/lent.hpp"
#include "store/postgres/commit/session.hpp"
#include "store/postgres/tables/dead_letters_reading.hpp"
#include "store/postgres/tables/inbox_sql.hpp"
#include "store/postgres/tables/inspection_sql.hpp"
#include "store/postgres/tables/outbox_reading.hpp"
#include "store/store.hpp"

namespace posthorn::postgres {

/// A reading session.
///
/// Threads: one at a time.
class reader final : public store_reader {
public:
    static result<std::unique_ptr<reader>> open(const session_options& options, const clock& time);

    outbox_reading& outbox() override { return outbox_; }
    inbox_reading& inbox() override { return inbox_; }
    inspection_sql& inspect() override { return inspection_; }
    dead_letters_reading& dead_letters() override { return dead_letters_; }
    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const store_transaction::row_visitor& visit) override;

    /// Runs `look` on one snapshot.
    result<> read(const std::function<result<>(store_reader&)>& look);
    [[nodiscard]] bool is_lost() const { return database_->is_lost(); }

private:
    reader(std::unique_ptr<connection> database, const outbox_rules& rules, const clock& time);

    std::unique_ptr<connection> database_;
    const clock& time_;
    fresh_plans plans_;
    outbox_reading outbox_;
    inbox_reading inbox_;
    inspection_sql inspection_;
    dead_letters_reading dead_letters_;
};

/// A few reading sessions, lent out one at a time and opened when first wanted. One that was lost
/// is made anew.
///
/// Threads: any; who finds none free waits.
class reader_pool {
public:
    reader_pool(session_options options, const clock& time, std::size_t count);

    result<> read(const std::function<result<>(store_reader&)>& look);

private:
    session_options options_;
    const clock& time_;
    lent<reader> readers_;  // Null where none is open.
};

}  // namespace posthorn::postgres
