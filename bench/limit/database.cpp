#include "limit/database.hpp"

#include <stdexcept>

namespace posthorn::bench {
namespace {

[[noreturn]] void give_up(sqlite3* on) { throw std::runtime_error(sqlite3_errmsg(on)); }

}  // namespace

statement::statement(sqlite3* on, std::string_view sql) {
    if (sqlite3_prepare_v3(on, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                           &raw_, nullptr) != SQLITE_OK)
        give_up(on);
}

void statement::bind_text(int place, std::string_view value) {
    sqlite3_bind_text(raw_, place, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
}

void statement::bind_blob(int place, std::span<const std::uint8_t> value) {
    sqlite3_bind_blob(raw_, place, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
}

bool statement::run() {
    const int code = sqlite3_step(raw_);
    sqlite3_reset(raw_);
    if (code == SQLITE_DONE || code == SQLITE_ROW) return true;
    if ((code & 0xff) == SQLITE_CONSTRAINT) return false;
    give_up(sqlite3_db_handle(raw_));
}

void statement::must_run() {
    if (!run()) give_up(sqlite3_db_handle(raw_));
}

std::int64_t statement::get() {
    if (sqlite3_step(raw_) != SQLITE_ROW) give_up(sqlite3_db_handle(raw_));
    const auto value = sqlite3_column_int64(raw_, 0);
    sqlite3_reset(raw_);
    return value;
}

void statement::for_each(const std::function<void(sqlite3_stmt*)>& visit) {
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(raw_)) == SQLITE_ROW) visit(raw_);
    sqlite3_reset(raw_);
    if (code != SQLITE_DONE) give_up(sqlite3_db_handle(raw_));
}

database::database(const std::string& file, std::string_view tables) {
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(file.c_str(), &raw_, flags, nullptr) != SQLITE_OK) give_up(raw_);
    // Others may read the file meanwhile, as a service's own database must allow. The WAL may grow
    // beyond SQLite's thousand pages before it is copied.
    execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; "
        "PRAGMA cache_size = -32768;");
    execute(std::string(tables));
}

void database::execute(const std::string& sql) {
    if (sqlite3_exec(raw_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) give_up(raw_);
}

}  // namespace posthorn::bench
