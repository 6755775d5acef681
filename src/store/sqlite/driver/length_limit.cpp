#include "store/sqlite/driver/length_limit.hpp"

#include <algorithm>
#include <limits>

#include <sqlite3.h>

namespace posthorn::sqlite {

length_limit::length_limit(connection& on, std::int64_t bytes_max)
    : on_(on.handle()),
      before_(sqlite3_limit(
          on_, SQLITE_LIMIT_LENGTH,
          static_cast<int>(std::min<std::int64_t>(bytes_max, std::numeric_limits<int>::max())))) {}

length_limit::~length_limit() { sqlite3_limit(on_, SQLITE_LIMIT_LENGTH, before_); }

std::int64_t bytes_at(connection& on, const column_place& place) noexcept {
    sqlite3_blob* value = nullptr;
    const int code =
        sqlite3_blob_open(on.handle(), "main", place.table, place.column, place.row, 0, &value);
    const std::int64_t bytes = code == SQLITE_OK ? sqlite3_blob_bytes(value) : 0;
    sqlite3_blob_close(value);  // A null handle is fine.
    return bytes;
}

}  // namespace posthorn::sqlite
