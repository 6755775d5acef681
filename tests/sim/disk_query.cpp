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

void query_disk(const fault_disk& disk, const std::string& path, const std::string& sql,
                const std::function<void(const plain_row&)>& visit) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &opened,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, disk.vfs_name());
    const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(opened, &sqlite3_close);
    if (status != SQLITE_OK) throw std::runtime_error(path + " cannot be opened");
    // To look must not change what is looked at.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_stmt* prepared = nullptr;
    sqlite3_prepare_v2(opened, sql.c_str(), -1, &prepared, nullptr);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared,
                                                                               &sqlite3_finalize);
    int code = SQLITE_ERROR;
    while (prepared != nullptr && (code = sqlite3_step(prepared)) == SQLITE_ROW)
        visit(plain_row(prepared));
    if (code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(opened));
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
