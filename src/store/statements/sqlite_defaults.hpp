#pragma once

#include "base/text/joined.hpp"

namespace posthorn::sqlite {

// What the database makes up by itself, in SQL that every SQLite knows.

inline constexpr auto now_ms = joined(R"sql((CAST(strftime('%s','now') AS INTEGER) * 1000 +
    CAST(substr(strftime('%f','now'), 4) AS INTEGER)))sql");

/// A UUIDv7: milliseconds, version, random bits, variant, random bits.
inline constexpr auto new_id = joined("(lower(printf('%08x-%04x-7', ", now_ms, " / 65536, ", now_ms,
                                      R"sql( % 65536)
    || substr(hex(randomblob(2)), 2) || '-'
    || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-'
    || hex(randomblob(6)))))sql");

}  // namespace posthorn::sqlite
