// SQLite cannot alter the default of a column. What its documentation advises for changes that leave
// the rows as they are is to write the table's text anew (https://sqlite.org/lang_altertable.html,
// section 7: "adding, removing, or changing default values on a column"). A trigger could not do
// the same: it cannot tell a 5 that was written from one that was left out, and every INSERT would
// pay for it.
#include "store/sqlite/schema/set_defaults.hpp"

#include <string_view>

#include "store/sqlite/driver/statement.hpp"
#include "store/statements/sqlite_defaults.hpp"

namespace posthorn::sqlite {
namespace {

// As tables.cpp writes them.
constexpr std::string_view before_retries = "max_retries INTEGER NOT NULL DEFAULT ";
constexpr auto before_life = joined("expires_at INTEGER NOT NULL DEFAULT (", now_ms, " + ");

bool replace_number(std::string& text, std::string_view before, std::int64_t number) {
    const auto found = text.find(before);
    if (found == std::string::npos) return false;
    const auto at = found + before.size();
    const auto end = text.find_first_not_of("-0123456789", at);
    if (end == at || end == std::string::npos) return false;
    text.replace(at, end - at, std::to_string(number));
    return true;
}

result<std::string> text_of_table(connection& database) {
    statement find(database,
                   "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = "
                   "'outbox_messages'");
    POSTHORN_LET(found, find.run());
    return std::string(found.empty() ? std::string_view() : found.front().text(0));
}

result<std::string> wanted_text(connection& database, const row_defaults& wanted) {
    POSTHORN_LET(now, text_of_table(database));
    auto fresh = with_defaults(std::move(now), wanted);
    if (fresh) return *std::move(fresh);
    return fail(error_code::store_failed,
                "the table outbox_messages is not as Posthorn made it; give max_retries and "
                "expires_at with every INSERT");
}

// RESET reads the schema anew, as other connections do because of its new number; a text that
// cannot be read fails here, before it is committed.
result<> write_text(connection& database, const row_defaults& wanted) {
    POSTHORN_LET(text, wanted_text(database, wanted));
    POSTHORN_LET(number, database.integer("PRAGMA schema_version"));
    POSTHORN_TRY(database.execute("PRAGMA writable_schema = ON"));
    {
        statement write(database,
                        "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = "
                        "'outbox_messages'");
        POSTHORN_TRY(write.run(text));
    }
    POSTHORN_TRY(database.execute(fmt::format("PRAGMA schema_version = {}", number + 1).c_str()));
    POSTHORN_TRY(database.execute("PRAGMA writable_schema = RESET"));
    POSTHORN_TRY(database.integer("SELECT count(*) FROM (SELECT 1 FROM outbox_messages LIMIT 1)"));
    return {};
}

}  // namespace

std::optional<std::string> with_defaults(std::string table, const row_defaults& wanted) {
    if (!replace_number(table, before_retries, wanted.max_retries)) return std::nullopt;
    if (!replace_number(table, before_life, wanted.expires_in.count())) return std::nullopt;
    return table;
}

result<> set_row_defaults(connection& database, const row_defaults& wanted) {
    POSTHORN_LET(now, text_of_table(database));
    POSTHORN_LET(fresh, wanted_text(database, wanted));
    if (now == fresh) return {};
    POSTHORN_TRY(database.insist("BEGIN IMMEDIATE"));
    auto written = write_text(database, wanted);
    if (written) written = database.execute("COMMIT");
    if (written) return {};
    POSTHORN_TRY(database.execute("ROLLBACK; PRAGMA writable_schema = RESET"));
    return written;
}

}  // namespace posthorn::sqlite
