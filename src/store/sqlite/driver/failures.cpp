#include "store/sqlite/driver/failures.hpp"

#include <sqlite3.h>

namespace posthorn::sqlite {

error_code classify(int extended_code) noexcept {
    switch (extended_code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL: return error_code::store_busy;
        case SQLITE_FULL: return error_code::store_full;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return error_code::store_corrupt;
        case SQLITE_READONLY: return error_code::store_read_only;
        case SQLITE_CANTOPEN: return error_code::store_unavailable;
        case SQLITE_IOERR: return error_code::io_failed;
        case SQLITE_INTERRUPT: return error_code::statement_interrupted;
        case SQLITE_AUTH: return error_code::statement_forbidden;
        default: return error_code::statement_failed;
    }
}

namespace {

constexpr std::string_view numbers_used_up =
    "; a row of outbox_messages has the highest seq there is, which an INSERT gave by hand: delete "
    "that row, leave seq out of every INSERT, and run UPDATE sqlite_sequence SET seq = (SELECT "
    "coalesce(max(seq), 0) FROM outbox_messages) WHERE name = 'outbox_messages'";

std::string_view advice(error_code code) {
    switch (code) {
        case error_code::store_busy: return "; another process holds the database, try again";
        case error_code::store_full: return "; free space on the disk, nothing was lost";
        case error_code::store_corrupt: return "; stop the service and restore a backup";
        case error_code::store_read_only: return "; give the service the right to write the file";
        case error_code::store_unavailable: return "; look at the path and its permissions";
        case error_code::statement_interrupted: return "; the unit took too long, make it smaller";
        case error_code::statement_forbidden:
            return "; a unit must not begin, end or nest transactions, attach, or use PRAGMA";
        default: return "";
    }
}

}  // namespace

error last_error(sqlite3* handle) {
    const auto code = classify(sqlite3_extended_errcode(handle));
    const std::string_view said = sqlite3_errmsg(handle);
    const bool has_no_number = said.find("seq_in_range") != std::string_view::npos;
    return {code, fmt::format("{} (SQLite {}){}", said, sqlite3_extended_errcode(handle),
                              has_no_number ? numbers_used_up : advice(code))};
}

}  // namespace posthorn::sqlite
