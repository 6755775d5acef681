#pragma once

#include <cstdint>

#include "store/sqlite/driver/connection.hpp"

namespace posthorn::sqlite {

/// While it lives, a statement on its connection that comes upon a larger value fails with
/// SQLITE_TOOBIG, before any memory is taken for it.
///
/// Lifetime: not past its connection; no two of one connection at a time.
/// Threads:  its connection's.
class length_limit {
public:
    length_limit(connection& on, std::int64_t bytes_max);
    ~length_limit();
    length_limit(const length_limit&) = delete;
    length_limit& operator=(const length_limit&) = delete;

private:
    sqlite3* on_;
    int before_;
};

/// Which value of which row.
struct column_place {
    const char* table = nullptr;
    const char* column = nullptr;
    std::int64_t row = 0;
};

/// How many bytes a text or a BLOB has, as the head of its row says: the value is not read. Zero if
/// it is neither, or not there.
[[nodiscard]] std::int64_t bytes_at(connection& on, const column_place& place) noexcept;

}  // namespace posthorn::sqlite
