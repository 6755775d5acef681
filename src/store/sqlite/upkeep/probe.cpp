#include "store/sqlite/upkeep/probe.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include <sqlite3.h>

#include "store/sqlite/driver/memory_file.hpp"
#include "store/sqlite/driver/statement_cache.hpp"
#include "store/sqlite/schema/migrate.hpp"

namespace posthorn::sqlite {
namespace {

result<connection> open_as_it_is(const std::string& path) {
    POSTHORN_LET(opened, connection::open({.path = path}));
    // The log of a node that was killed is not for us to bring into the file.
    sqlite3_db_config(opened.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    POSTHORN_TRY(opened.execute("PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0"));
    return std::move(opened);
}

result<connection> make_tables(const std::string& path, const clock& time) {
    POSTHORN_LET(opened, connection::open({.path = path, .create = true}));
    const std::array<migration_set, 1> tables{store_tables()};
    POSTHORN_TRY(migrate(opened, tables, time));
    return std::move(opened);
}

}  // namespace

result<sql_query> probe(const std::string& path, const clock& time) {
    std::error_code unusable;
    const bool is_there = !path.empty() && std::filesystem::exists(path, unusable);
    std::unique_ptr<memory_file> made;
    if (!is_there) {
        POSTHORN_LET(fresh, memory_file::make());
        made = std::move(fresh);
    }
    auto opened = is_there ? open_as_it_is(path) : make_tables(made->path(), time);
    if (!opened) return std::unexpected(std::move(opened).error());
    struct kept {
        kept(std::unique_ptr<memory_file> on, connection opened)
            : file(std::move(on)), database(std::move(opened)), cache(database) {}
        std::unique_ptr<memory_file> file;  // Goes last.
        connection database;
        statement_cache cache;
    };
    const auto with = std::make_shared<kept>(std::move(made), *std::move(opened));
    return [with](const std::string& sql, std::span<const sql_param> given) {
        return with->cache.run(sql, given, [](const sql_row& /*row*/) {});
    };
}

}  // namespace posthorn::sqlite
