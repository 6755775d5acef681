#include "store/postgres/schema/set_defaults.hpp"

namespace posthorn::postgres {
namespace {

// The number at the end of a default, as in `outbox.to_ms(statement_timestamp()) + 86400000`.
constexpr std::string_view find = R"sql(
    SELECT substring(pg_get_expr(d.adbin, d.adrelid) FROM '(-?[0-9]+)[^0-9]*$')::bigint
    FROM pg_attribute AS a JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = to_regclass($name${s}.outbox_messages$name$)
      AND a.attname IN ('expires_at', 'max_retries') ORDER BY a.attname)sql";

std::string statement_for(std::string_view schema, const row_defaults& wanted) {
    return fmt::format(
        "ALTER TABLE {0}.outbox_messages ALTER COLUMN max_retries SET DEFAULT {1},"
        " ALTER COLUMN expires_at SET DEFAULT ({0}.to_ms(statement_timestamp()) + {2})",
        schema, wanted.max_retries, wanted.expires_in.count());
}

}  // namespace

result<> set_row_defaults(connection& database, const row_defaults& wanted) {
    POSTHORN_LET(now, database.ask(std::string(find)));
    if (now.size() == 2 && now[0].integer(0) == wanted.expires_in.count() &&
        now[1].integer(0) == wanted.max_retries)
        return {};
    // Who waits for this lock is in the way of all who insert.
    const auto alter = statement_for(database.schema(), wanted);
    const auto done =
        database.script("BEGIN; SET LOCAL lock_timeout = '2s'; " + alter + "; COMMIT");
    if (done) return {};
    POSTHORN_TRY(database.script("ROLLBACK"));
    return fail(done.error().code(), "{}; let the owner of the table run: {}", done.error().what(),
                alter);
}

}  // namespace posthorn::postgres
