#include "store/sqlite/upkeep/probe.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include <sqlite3.h>

#include "store/sqlite/driver/memory_file.hpp"
#include "store/sqlite/driver/statement.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/schema/file_owner.hpp"
#include "store/sqlite/schema/migrate.hpp"

namespace posthorn::sqlite {
namespace {

result<connection> open_as_it_is(const std::string& path, std::span<const table_set> above) {
    POSTHORN_LET(opened, connection::open({.path = path}));
    // The log of a node that was killed is not for us to bring into the file.
    sqlite3_db_config(opened.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    POSTHORN_TRY(opened.execute("PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0"));
    POSTHORN_TRY(require_free_names(opened, above));
    return std::move(opened);
}

result<connection> make_tables(const std::string& path, const clock& time) {
    POSTHORN_LET(opened, connection::open({.path = path, .create = true}));
    const std::array<migration_set, 1> tables{store_tables()};
    POSTHORN_TRY(migrate(opened, tables, time));
    return std::move(opened);
}

// A file that was never Posthorn's has no such table.
std::string owner_of(connection& database) {
    statement find(database, "SELECT value FROM posthorn_meta WHERE name = 'service'");
    const auto found = find.run();
    return found && !found->empty() ? std::string(found->front().text(0)) : std::string{};
}

}  // namespace

result<probed_database> probe(const std::string& path, std::span<const table_set> above,
                              const clock& time) {
    std::error_code unusable;
    const bool is_there = !path.empty() && std::filesystem::exists(path, unusable);
    std::unique_ptr<memory_file> made;
    if (!is_there) {
        POSTHORN_LET(fresh, memory_file::make());
        made = std::move(fresh);
    }
    auto opened = is_there ? open_as_it_is(path, above) : make_tables(made->path(), time);
    if (!opened) return std::unexpected(std::move(opened).error());
    struct kept {
        kept(std::unique_ptr<memory_file> on, connection opened)
            : file(std::move(on)), database(std::move(opened)), cache(database) {}
        std::unique_ptr<memory_file> file;  // Goes last.
        connection database;
        statement_cache cache;
    };
    const auto with = std::make_shared<kept>(std::move(made), *std::move(opened));
    return probed_database{.ask =
                               [with](const std::string& sql, std::span<const sql_param> given) {
                                   return with->cache.run(sql, given,
                                                          [](const sql_row& /*row*/) {});
                               },
                           .service = owner_of(with->database)};
}

}  // namespace posthorn::sqlite
