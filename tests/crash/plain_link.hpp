#pragma once

#include "crash/links.hpp"
#include "support/sqlite_file.hpp"

namespace posthorn::crash {

/// Adds a link to the chain, as a program without Posthorn does it, and sends it if it is asked to.
inline std::int64_t add_plain_link(test::sqlite_file& database, bool sends) {
    database.run("BEGIN IMMEDIATE");
    const auto n = database.integer("SELECT max(n) FROM chain") + 1;
    const auto before =
        database.text(fmt::format("SELECT hash FROM chain WHERE n = {} LIMIT 1", n - 1));
    const auto hash = link_hash(n, before);
    database.run(fmt::format("INSERT INTO chain VALUES ({}, '{}')", n, hash));
    if (sends) {
        const auto key = order_key_of(n);
        database.run(fmt::format(
            "INSERT INTO outbox_messages (destination, endpoint, payload, headers, order_key)"
            " VALUES ('target', 'Link', '{}', '{}', nullif('{}', ''))",
            payload_of(n, hash), headers_with_canary(), key));
    }
    database.run("COMMIT");
    return n;
}

}  // namespace posthorn::crash
