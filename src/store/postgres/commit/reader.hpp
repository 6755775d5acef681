#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "store/commit/table_reader.hpp"
#include "store/postgres/commit/session.hpp"
#include "store/postgres/tables/inspection_sql.hpp"
#include "store/postgres/tables/outbox_reading.hpp"
#include "store/store.hpp"

namespace posthorn::postgres {

/// A reading session.
class reader final : public table_reader<driver, outbox_reading> {
public:
    static result<std::unique_ptr<reader>> open(const session_options& options, const clock& time);

    result<> query(std::string_view sql, std::span<const sql_param> with,
                   const store_transaction::row_visitor& visit) override;
    /// Runs `look` on one snapshot.
    result<> read(const std::function<result<>(store_reader&)>& look);
    [[nodiscard]] bool is_lost() const { return database().is_lost(); }

private:
    reader(std::unique_ptr<connection> database, const outbox_rules& rules, const clock& time)
        : table_reader(std::move(database), rules), time_(time) {}

    const clock& time_;
    fresh_plans plans_;
};

}  // namespace posthorn::postgres
