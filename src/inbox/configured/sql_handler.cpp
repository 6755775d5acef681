#include "inbox/configured/sql_handler.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <utility>

#include <posthorn/error.hpp>
#include <posthorn/json/writer.hpp>

#include "inbox/configured/message_values.hpp"
#include "inbox/configured/redact.hpp"

namespace posthorn {
namespace {

void write_column(json_writer& writer, const sql_row& row, std::size_t column) {
    writer.key(row.name(column));
    switch (row.kind(column)) {
        case sql_kind::null: return writer.null();
        case sql_kind::integer: return writer.integer(row.integer(column));
        case sql_kind::real: return writer.real(row.real(column));
        case sql_kind::text: return writer.string(row.text(column));
        case sql_kind::blob: break;
    }
    throw permanent(
        fmt::format("the column {} of the response is a blob, which JSON cannot say; use hex()",
                    row.name(column)));
}

std::string object_of(const sql_row& row) {
    std::string text;
    json_writer writer(text);
    writer.open('{');
    for (std::size_t i = 0; i < row.size(); ++i) write_column(writer, row, i);
    writer.close('}');
    return text;
}

/// `no such table: x` and the like, by SQLite's words and PostgreSQL's letters: it may be made
/// after the start.
bool may_come_later(std::string_view problem) {
    return problem.find("no such table") != std::string_view::npos ||
           problem.find("no such column") != std::string_view::npos ||
           problem.find("has no column") != std::string_view::npos ||
           problem.find("(PostgreSQL 42P01)") != std::string_view::npos ||
           problem.find("(PostgreSQL 42703)") != std::string_view::npos;
}

/// `COMMIT` and the like, which the database understands and every message would fail at.
bool is_forbidden(std::string_view sql) {
    const auto* const end = std::ranges::find_if_not(
        sql, [](char each) { return std::isalpha(static_cast<unsigned char>(each)) != 0; });
    std::string word(sql.begin(), end);
    for (char& each : word)
        if (each >= 'a' && each <= 'z') each = static_cast<char>(each - 'a' + 'A');
    constexpr std::array<std::string_view, 10> words{"BEGIN",     "COMMIT",  "END",    "ROLLBACK",
                                                     "SAVEPOINT", "RELEASE", "ATTACH", "DETACH",
                                                     "PRAGMA",    "VACUUM"};
    return std::ranges::find(words, word) != words.end();
}

/// The first row of the last statement as JSON, if it gives any.
std::string run_script(transaction& in, const std::vector<sql_statement>& script,
                       const message_values& values) {
    std::string response;
    for (const auto& statement : script) {
        response.clear();
        const auto given = values.bind(statement);
        const auto take = [&](const sql_row& row) {
            if (response.empty()) response = object_of(row);
        };
        try {
            in.for_each_row(take, statement.sql, std::span<const sql_param>(given));
        } catch (const error& why) {
            // The text travels to the sender and into logs; the database may quote values.
            throw error(why.code(), redact(why.what(), given, statement.sql));
        }
    }
    return response;
}

}  // namespace

transactional_handler make_sql_handler(std::vector<sql_statement> script, const clock& time) {
    const auto kept = std::make_shared<const std::vector<sql_statement>>(std::move(script));
    return [kept, &time](context& with, const message& received) {
        return run_script(with, *kept, message_values(received, time.wall()));
    };
}

detail::unique_function<void(transaction&, const dead_letter&)> make_sql_hook(
    std::vector<sql_statement> script, const clock& time) {
    return [kept = std::move(script), &time](transaction& in, const dead_letter& what) {
        run_script(in, kept, message_values(what, time.wall()));
    };
}

result<sql_remark> check_sql_script(const sql_query& ask,
                                    const std::vector<sql_statement>& script) {
    sql_remark remark;
    for (const auto& statement : script) {
        if (is_forbidden(statement.sql))
            return fail(
                error_code::invalid_configuration,
                "{} is not for handlers, since Posthorn begins and commits the transaction; "
                "leave it out",
                statement.sql);
        const std::vector<sql_param> nothing(statement.parameters.size(), nullptr);
        const auto understood = ask("EXPLAIN " + statement.sql, nothing);
        if (understood) continue;
        const std::string_view problem = understood.error().what();
        if (!may_come_later(problem))
            return fail(error_code::invalid_configuration, "the database says: {}; in: {}", problem,
                        statement.sql);
        remark.text = problem;
    }
    return remark;
}

}  // namespace posthorn
