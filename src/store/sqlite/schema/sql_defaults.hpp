#pragma once

// What the database makes up by itself, in SQL that every SQLite knows.

#define POSTHORN_NOW_MS                                \
    "(CAST(strftime('%s','now') AS INTEGER) * 1000 + " \
    "CAST(substr(strftime('%f','now'), 4) AS INTEGER))"

// A UUIDv7: milliseconds, version, random bits, variant, random bits.
#define POSTHORN_NEW_ID                                                                 \
    "(lower(printf('%08x-%04x-7', " POSTHORN_NOW_MS " / 65536, " POSTHORN_NOW_MS        \
    " % 65536) || substr(hex(randomblob(2)), 2) || '-' || "                             \
    "substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || " \
    "hex(randomblob(6))))"
