#include "store/postgres/commit/unit_transaction.hpp"

#include <utility>

#include "store/postgres/driver/sql_text.hpp"

namespace posthorn::postgres {
namespace {

values values_of(std::span<const sql_param> params) {
    values made;
    for (const auto& each : params) made.add(each);
    return made;
}

}  // namespace

unit_transaction::unit_transaction(connection& database, const clock& time,
                                   const outbox_rules& rules, std::string writer)
    : table_transaction(database, time, rules, database, rules),
      database_(database),
      writer_(std::move(writer)),
      touch_(database, R"sql(
          UPDATE {s}.posthorn_commits SET barrier = barrier + 1
          WHERE writer = $1)sql"),
      turn_(database, R"sql(
          SELECT pg_advisory_xact_lock(hashtextextended($1::text || ' ' || $2::text,
              ($1::text)::regclass::oid::bigint)))sql"),
      foreign_(database) {}

void unit_transaction::begin_unit(bool in_savepoint) {
    if (in_savepoint) database_.defer(unit_savepoint);
    in_savepoint_ = in_savepoint;
    statements_before_ = database_.statements();
    broken_.reset();
    has_foreign_sql_ = false;
    savepoints_ = in_savepoint ? 1 : 0;
}

result<> unit_transaction::touch() {
    POSTHORN_TRY(touch_.run(writer_));
    return {};
}

result<> unit_transaction::take_turn(std::string_view table, std::string_view thing) {
    POSTHORN_TRY(turn_.run(table, thing));
    return {};
}

result<rows> unit_transaction::run_foreign(std::string_view sql, values given) {
    if (broken_) return std::unexpected(*broken_);
    has_foreign_sql_ = true;
    if (!in_savepoint_) {
        auto answer = foreign_.run(sql, std::move(given));
        if (!answer) broken_ = answer.error();
        return answer;
    }
    POSTHORN_TRY(require_allowed(sql));
    const bool is_first = database_.statements() == statements_before_;
    if (!is_first) {
        database_.defer("SAVEPOINT posthorn_statement");
        ++savepoints_;
    }
    auto answer = database_.run_once(numbered(sql), std::move(given));
    if (answer) {
        if (!is_first) database_.defer("RELEASE posthorn_statement");
        return answer;
    }
    const auto code = answer.error().code();
    // A procedure that tried to end the transaction, or one that took too long.
    if (code == error_code::statement_interrupted || code == error_code::statement_forbidden ||
        code == error_code::store_busy || database_.is_lost())
        broken_ = answer.error();
    if (!database_.is_lost()) {
        database_.defer(is_first ? "ROLLBACK TO posthorn_unit" : "ROLLBACK TO posthorn_statement");
        if (!is_first) database_.defer("RELEASE posthorn_statement");
    }
    return answer;
}

result<std::int64_t> unit_transaction::execute(std::string_view sql,
                                               std::span<const sql_param> with) {
    POSTHORN_LET(answer, run_foreign(sql, values_of(with)));
    return answer.changed();
}

bool unit_transaction::defer_foreign(std::string_view sql, values& given) {
    if (in_savepoint_ || broken_ || !foreign_.defer(sql, given)) return false;
    has_foreign_sql_ = true;
    return true;
}

result<> unit_transaction::run(std::string_view sql, std::span<const sql_param> with) {
    auto given = values_of(with);
    if (!defer_foreign(sql, given)) POSTHORN_TRY(run_foreign(sql, std::move(given)));
    return {};
}

result<> unit_transaction::query(std::string_view sql, std::span<const sql_param> with,
                                 const row_visitor& visit) {
    auto given = values_of(with);
    if (defer_foreign(sql, given)) return {};
    POSTHORN_LET(answer, run_foreign(sql, std::move(given)));
    for (int i = 0; visit && i < answer.size(); ++i) visit(answer[i]);
    return {};
}

}  // namespace posthorn::postgres
