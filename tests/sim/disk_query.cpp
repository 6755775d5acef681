#include "sim/disk_query.hpp"

#include <memory>
#include <stdexcept>

#include <sqlite3.h>

namespace posthorn::sim {

std::string plain_row::text(int column) const {
    const auto* found = sqlite3_column_text(static_cast<sqlite3_stmt*>(statement_), column);
    return found == nullptr ? "" : reinterpret_cast<const char*>(found);
}

std::int64_t plain_row::number(int column) const {
    return sqlite3_column_int64(static_cast<sqlite3_stmt*>(statement_), column);
}

bool plain_row::is_null(int column) const {
    return sqlite3_column_type(static_cast<sqlite3_stmt*>(statement_), column) == SQLITE_NULL;
}

void plain_query::closer::operator()(sqlite3* handle) const { sqlite3_close(handle); }

plain_query::plain_query(const char* vfs, const std::string& path) {
    sqlite3* opened = nullptr;
    const int status =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
    database_.reset(opened);
    if (status != SQLITE_OK) throw std::runtime_error(path + " cannot be opened");
    // To look must not change what is looked at.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void plain_query::ask(const std::string& sql, const std::function<void(const plain_row&)>& visit) {
    sqlite3_stmt* prepared = nullptr;
    sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared,
                                                                               &sqlite3_finalize);
    int code = SQLITE_ERROR;
    while (prepared != nullptr && (code = sqlite3_step(prepared)) == SQLITE_ROW)
        visit(plain_row(prepared));
    if (code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(database_.get()));
}

std::vector<std::byte> copy_database(const fault_disk& disk, const std::string& path) {
    using handle = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
    const auto open = [&](const char* vfs) {
        sqlite3* opened = nullptr;
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
        return handle(opened, &sqlite3_close);
    };
    fault_disk target(1);
    {
        const auto from = open(disk.vfs_name());
        const auto to = open(target.vfs_name());
        sqlite3_db_config(from.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
        sqlite3_exec(to.get(), "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nullptr,
                     nullptr, nullptr);
        auto* const copy = sqlite3_backup_init(to.get(), "main", from.get(), "main");
        if (copy == nullptr) return {};
        const int code = sqlite3_backup_step(copy, -1);
        sqlite3_backup_finish(copy);
        if (code != SQLITE_DONE) return {};
    }
    return target.contents(path);
}

bool write_disk(const fault_disk& disk, const std::string& path, const std::string& sql) {
    sqlite3* opened = nullptr;
    const int status =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, disk.vfs_name());
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(opened, &sqlite3_close);
    if (status != SQLITE_OK) return false;
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    const auto all = "PRAGMA synchronous = NORMAL; " + sql;
    return sqlite3_exec(opened, all.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace posthorn::sim
