#include "store/sqlite/schema/file_owner.hpp"

#include <filesystem>
#include <system_error>

#include "store/sqlite/driver/statement.hpp"

namespace posthorn::sqlite {

result<> require_not_emptied(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code none;
    if (fs::file_size(path, none) != 0 || none) return {};
    for (const auto* const beside : {"-wal", "-ballast"}) {
        const auto witness = path + beside;
        const auto size = fs::file_size(witness, none);
        if (none || size == 0) continue;
        return fail(error_code::store_corrupt,
                    "{} is empty, and {} tells that it was not: restore a backup; or, to begin "
                    "with nothing, delete both",
                    path, witness);
    }
    return {};
}

namespace {

std::unexpected<error> name_is_taken(std::string_view kind, std::string_view name) {
    return fail(error_code::invalid_configuration,
                "the database has a {} of its own named '{}', a name that Posthorn needs for "
                "itself; rename it, or give Posthorn another file. Nothing was changed",
                kind, name);
}

/// A table of a folder above that the folder did not make: its name has no beginning of ours.
result<> require_free(connection& database, const table_set& of, bool has_tables) {
    if (has_tables) {
        statement made(database, "SELECT 1 FROM posthorn_migrations WHERE folder = ? LIMIT 1");
        POSTHORN_LET(step, made.run(of.sqlite.folder));
        if (!step.empty()) return {};
    }
    for (const auto& table : of.copied) {
        if (table.name.starts_with("posthorn_")) continue;
        statement find(database, "SELECT type FROM sqlite_schema WHERE name = ? COLLATE NOCASE");
        POSTHORN_LET(taken, find.run(table.name));
        if (!taken.empty()) return name_is_taken(taken.front().text(0), table.name);
    }
    return {};
}

}  // namespace

result<> require_free_names(connection& database, std::span<const table_set> above) {
    const auto has_tables =
        database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'posthorn_migrations'");
    POSTHORN_TRY(has_tables);
    for (const auto& each : above) POSTHORN_TRY(require_free(database, each, *has_tables > 0));
    if (*has_tables > 0) return {};
    statement find(database, R"sql(
        SELECT type, name FROM sqlite_schema
        WHERE name LIKE 'posthorn!_%' ESCAPE '!' OR name LIKE 'outbox!_%' ESCAPE '!'
            OR name LIKE 'inbox!_%' ESCAPE '!' OR name = 'changes' COLLATE NOCASE
        LIMIT 1)sql");
    POSTHORN_LET(taken, find.run());
    if (taken.empty()) return {};
    return name_is_taken(taken.front().text(0), taken.front().text(1));
}

result<> claim_for(connection& database, std::string_view service) {
    if (service.empty()) return {};
    statement claim(database, "INSERT OR IGNORE INTO posthorn_meta VALUES ('service', ?)");
    POSTHORN_TRY(claim.run(service));
    statement find(database, "SELECT value FROM posthorn_meta WHERE name = 'service'");
    POSTHORN_LET(found, find.run());
    const auto owner = found.front().text(0);
    if (owner == service) return {};
    return fail(error_code::invalid_configuration,
                "the database belongs to the service '{}', not to '{}'; give the name back, or "
                "give this service a database of its own. To rename the service on purpose, see "
                "the page of invalid_configuration",
                owner, service);
}

}  // namespace posthorn::sqlite
