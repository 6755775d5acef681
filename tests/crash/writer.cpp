// Another program on a service's database: SQLite alone, a handle of its own, with the automatic
// checkpoint that SQLite has unless it is told otherwise, only more often. It adds links to the
// chain and, on the source's side, sends each with plain SQL. That no checkpoint of its own may run
// is what it demands of the node beside it.
//
// usage: crash_writer DATABASE PROMISE send|keep PAUSE_MS
// It says `ready`, and ends at SIGTERM.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <poll.h>

#include "crash/plain_link.hpp"
#include "crash/promise_file.hpp"
#include "support/sqlite_file.hpp"

namespace {

using namespace posthorn::crash;
using posthorn::test::sqlite_file;

volatile std::sig_atomic_t is_to_end = 0;

// Nobody but a node copies the log while one works: SQLite says that the database is busy.
void require_no_checkpoint(sqlite_file& database) {
    if (database.integer("PRAGMA wal_checkpoint") != 1)
        throw std::runtime_error("a checkpoint of another program ran beside a node");
}

int run(const std::string& path, const std::string& promised, bool sends, int pause_ms) {
    promise_file promise(promised);
    constexpr auto pages = "PRAGMA wal_autocheckpoint = 5";
    sqlite_file database(path);
    database.run(pages);
    database.run(source_tables);
    std::puts("ready");
    std::fflush(stdout);
    for (int commits = 1; is_to_end == 0; ++commits) {
        promise.raise(add_plain_link(database, sends));
        require_no_checkpoint(database);
        constexpr int commits_of_a_handle = 50;
        if (commits % commits_of_a_handle == 0) {
            database = sqlite_file(path);
            database.run(pages);
        }
        if (pause_ms > 0) ::poll(nullptr, 0, pause_ms);
    }
    return 0;
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) return 2;
    std::signal(SIGTERM, [](int) { is_to_end = 1; });
    try {
        return run(words[1], words[2], std::string(words[3]) == "send", std::atoi(words[4]));
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 3;
    }
}
