#include "store/sqlite/upkeep/moving.hpp"

#include <filesystem>
#include <system_error>

#include "store/sqlite/driver/file_locks.hpp"
#include "store/sqlite/driver/leftover_wal.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/schema/migrate.hpp"

namespace posthorn::sqlite {
namespace {

template <class... Args>
result<std::string> text_of(connection& database, std::string_view sql, const Args&... args) {
    statement query(database, sql);
    POSTHORN_LET(found, query.run(args...));
    return found.empty() ? std::string{} : std::string(found.front().text(0));
}

template <class... Args>
result<std::int64_t> number_of(connection& database, std::string_view sql, const Args&... args) {
    statement query(database, sql);
    POSTHORN_LET(found, query.run(args...));
    return found.empty() ? 0 : found.front().integer(0);
}

constexpr std::string_view find_table =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?";

std::string literal(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'') quoted += c;
        quoted += c;
    }
    return quoted + '\'';
}

result<std::optional<move_mark>> mark_of(connection& database) {
    const auto is_ours = number_of(database, find_table, "posthorn_meta");
    POSTHORN_TRY(is_ours);
    if (*is_ours == 0) return std::nullopt;
    constexpr std::string_view find = "SELECT value FROM posthorn_meta WHERE name = ?";
    POSTHORN_LET(id, text_of(database, find, "move_id"));
    if (id.empty()) return std::nullopt;
    POSTHORN_LET(to, text_of(database, find, "move_to"));
    const auto done = text_of(database, find, "move_state");
    POSTHORN_TRY(done);
    const auto at = number_of(database, find, "move_at");
    POSTHORN_TRY(at);
    return move_mark{.id = std::move(id),
                     .to = std::move(to),
                     .is_done = *done == "done",
                     .at = wall_time(std::chrono::milliseconds(*at))};
}

/// All in one transaction.
result<> write(connection& database, const std::string& sql) {
    POSTHORN_TRY(database.execute("BEGIN IMMEDIATE"));
    if (auto done = database.execute(sql.c_str()); !done) {
        POSTHORN_TRY(database.execute("ROLLBACK"));
        return done;
    }
    return database.execute("COMMIT");
}

}  // namespace

result<> require_not_moved(connection& database, const std::string& path) {
    const auto mark = mark_of(database);
    POSTHORN_TRY(mark);
    if (!*mark) return {};
    const auto& seen = **mark;
    if (seen.is_done)
        return fail(error_code::invalid_configuration,
                    "{0} was moved to {1} at {2}, and what is here is old: set store.url to that. "
                    "To go back on purpose, see 'posthorn migrate --help': --undo",
                    path, seen.to, to_iso8601(seen.at));
    return fail(error_code::invalid_configuration,
                "a move of {0} to {1} began at {2} and was cut off: run the same 'posthorn "
                "migrate' again, which goes on from there, or 'posthorn migrate --undo sqlite:{0} "
                "URL'",
                path, seen.to, to_iso8601(seen.at));
}

result<moving_file> moving_file::open(const std::string& path) {
    std::error_code unusable;
    if (!std::filesystem::is_regular_file(path, unusable))
        return fail(error_code::not_found, "there is no database at {}; look at the path", path);
    POSTHORN_TRY(sole_use::take(path));  // Says who it is.
    POSTHORN_LET(opened,
                 connection::open({.path = path, .busy_timeout = std::chrono::milliseconds{0}}));
    POSTHORN_TRY(save_left_log(opened));
    // From the first look on no other process has it, until this connection is closed.
    POSTHORN_TRY(opened.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL"));
    POSTHORN_TRY(opened.execute("BEGIN IMMEDIATE; COMMIT"));
    return moving_file(std::move(opened), path);
}

result<> moving_file::require_sound(const std::vector<migration_set>& sets) {
    const auto pages = text_of(database_, "PRAGMA integrity_check(1)");
    if (!pages || *pages != "ok")
        return fail(error_code::store_corrupt,
                    "{} is damaged: {}; restore a backup and move that, nothing was copied", path_,
                    pages ? *pages : std::string(pages.error().what()));
    const auto is_ours = has_table("posthorn_migrations");
    POSTHORN_TRY(is_ours);
    if (!*is_ours)
        return fail(error_code::invalid_argument,
                    "{} has not the tables of Posthorn; is it the right file?", path_);
    for (const auto& set : sets) {
        const auto step = number_of(
            database_, "SELECT max(number) FROM posthorn_migrations WHERE folder = ?", set.folder);
        POSTHORN_TRY(step);
        const int known = set.steps.back().number;
        if (*step > known)
            return fail(error_code::store_too_new,
                        "the tables of '{}' in {} are at step {}, this Posthorn knows {}; use the "
                        "newer Posthorn that made them",
                        set.folder, path_, *step, known);
        // What a folder above never made has nothing in it.
        if (*step < known && (*step > 0 || set.folder == "store"))
            return fail(error_code::state_changed,
                        "the tables of '{0}' in {1} are at step {2}, this Posthorn has {3}: bring "
                        "them up to date first, by starting the node once with this Posthorn; "
                        "nothing was copied",
                        set.folder, path_, *step, known);
    }
    return {};
}

result<std::optional<move_mark>> moving_file::mark() { return mark_of(database_); }

result<> moving_file::begin(const move_mark& mark) {
    const auto refusal =
        literal(fmt::format("the messages of this database are moving to {}; send there", mark.to));
    return write(database_,
                 fmt::format("INSERT OR REPLACE INTO posthorn_meta VALUES ('move_id', {}),"
                             " ('move_to', {}), ('move_state', 'copying'), ('move_at', {});"
                             "DROP TRIGGER IF EXISTS outbox_moved;"
                             "CREATE TRIGGER outbox_moved BEFORE INSERT ON outbox_messages BEGIN"
                             " SELECT RAISE(ABORT, {}); END",
                             literal(mark.id), literal(mark.to), mark.at.time_since_epoch().count(),
                             refusal));
}

result<> moving_file::finish() {
    return write(database_, "UPDATE posthorn_meta SET value = 'done' WHERE name = 'move_state'");
}

result<> moving_file::take_back() {
    return write(database_,
                 "DROP TRIGGER IF EXISTS outbox_moved;"
                 "DELETE FROM posthorn_meta WHERE name IN"
                 " ('move_id', 'move_to', 'move_state', 'move_at')");
}

result<std::string> moving_file::service() {
    return text_of(database_, "SELECT value FROM posthorn_meta WHERE name = ?", "service");
}

result<std::vector<std::string>> moving_file::other_tables() {
    statement query(database_, R"sql(
        SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
          AND name NOT LIKE 'posthorn!_%' ESCAPE '!' AND name NOT LIKE 'outbox!_%' ESCAPE '!'
          AND name NOT LIKE 'inbox!_%' ESCAPE '!' AND name <> 'changes'
        ORDER BY name)sql");
    std::vector<std::string> names;
    POSTHORN_LET(found, query.run());
    POSTHORN_TRY(found.each([&](const sql_row& row) { names.emplace_back(row.text(0)); }));
    return names;
}

result<std::int64_t> moving_file::highest(std::string_view table, std::string_view key) {
    return number_of(
        database_,
        fmt::format("SELECT max(coalesce((SELECT max({0}) FROM {1}), 0),"
                    " coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{1}'), 0))",
                    key, table));
}

result<bool> moving_file::has_table(std::string_view name) {
    const auto found = number_of(database_, find_table, name);
    POSTHORN_TRY(found);
    return *found > 0;
}

result<std::int64_t> moving_file::count(std::string_view table) {
    const auto is_there = has_table(table);
    POSTHORN_TRY(is_there);
    if (!*is_there) return 0;
    return number_of(database_, fmt::format("SELECT count(*) FROM {}", table));
}

}  // namespace posthorn::sqlite
