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

result<> require_free_names(connection& database) {
    statement find(database, R"sql(
        SELECT type, name FROM sqlite_schema
        WHERE (name LIKE 'posthorn!_%' ESCAPE '!' OR name LIKE 'outbox!_%' ESCAPE '!'
            OR name LIKE 'inbox!_%' ESCAPE '!' OR name = 'changes' COLLATE NOCASE)
          AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'posthorn_migrations')
        LIMIT 1)sql");
    POSTHORN_LET(taken, find.run());
    if (taken.empty()) return {};
    return fail(error_code::invalid_configuration,
                "the database has a {} of its own named '{}', a name that Posthorn needs for "
                "itself; rename it, or give Posthorn another file. Nothing was changed",
                taken.front().text(0), taken.front().text(1));
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
