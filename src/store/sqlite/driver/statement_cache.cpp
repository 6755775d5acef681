#include "store/sqlite/driver/statement_cache.hpp"

#include <utility>

#include <sqlite3.h>

namespace posthorn::sqlite {
namespace {

constexpr std::size_t kept_max = 256;

result<> step_through(prepared& asked, std::span<const sql_param> with,
                      const store_transaction::row_visitor& visit) {
    if (static_cast<std::size_t>(asked.parameters()) != with.size())
        return fail(error_code::statement_failed,
                    "the statement has {} parameters, {} values were given", asked.parameters(),
                    with.size());
    for (std::size_t i = 0; i < with.size(); ++i) asked.bind(static_cast<int>(i) + 1, with[i]);
    for (;;) {
        POSTHORN_LET(row, asked.step());
        if (!row) return {};
        if (visit) visit(asked);
    }
}

}  // namespace

// Taken out while it is in use, so that a visitor may run the same text inside.
result<prepared> statement_cache::take(std::string_view sql) {
    if (const auto found = kept_.find(sql); found != kept_.end())
        return std::move(kept_.extract(found).mapped());
    return database_->prepare(sql);
}

void statement_cache::give_back(std::string_view sql, prepared used) {
    used.reset();
    if (kept_.size() >= kept_max) kept_.clear();
    kept_.try_emplace(std::string(sql), std::move(used));
}

result<> statement_cache::run(std::string_view sql, std::span<const sql_param> with,
                              const store_transaction::row_visitor& visit) {
    POSTHORN_LET(taken, take(sql));
    auto outcome = step_through(taken, with, visit);
    give_back(sql, std::move(taken));
    return outcome;
}

result<std::int64_t> statement_cache::change(std::string_view sql,
                                             std::span<const sql_param> with) {
    auto* const handle = database_->handle();
    const auto before = sqlite3_total_changes64(handle);
    POSTHORN_TRY(run(sql, with, nullptr));
    // What changes none leaves the number of the one before.
    return sqlite3_total_changes64(handle) == before ? 0 : sqlite3_changes64(handle);
}

}  // namespace posthorn::sqlite
