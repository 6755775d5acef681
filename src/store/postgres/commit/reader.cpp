#include "store/postgres/commit/reader.hpp"

#include <utility>

#include "store/commit/unit_run.hpp"
#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {

result<std::unique_ptr<reader>> reader::open(const session_options& options, const clock& time) {
    POSTHORN_LET(database, connect(options, time));
    POSTHORN_TRY(database->begin_pipeline());
    return std::unique_ptr<reader>(new reader(std::move(database), options.rules, time));
}

result<> reader::query(std::string_view sql, std::span<const sql_param> with,
                       const store_transaction::row_visitor& visit) {
    POSTHORN_TRY(require_allowed(sql));
    values given;
    for (const auto& each : with) given.add(each);
    POSTHORN_LET(answer, database().run_once(numbered(sql), std::move(given)));
    for (int i = 0; visit && i < answer.size(); ++i) visit(answer[i]);
    return {};
}

result<> reader::read(const std::function<result<>(store_reader&)>& look) {
    database().defer("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    plans_.look(database(), time_.steady());
    auto outcome = look_safely(look, *this);
    database().defer("ROLLBACK");
    const auto ended = database().flush();
    if (outcome && !ended) return std::unexpected(ended.error());
    return outcome;
}

}  // namespace posthorn::postgres
