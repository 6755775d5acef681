// Another process on a database, with SQLite alone: no code of Posthorn's is in it.
//
//   sqlite_child produce DATABASE COMMITS SECONDS PAUSE_MS   sends with plain SQL, each in a commit
//       of its own, with a pause after it, until it has so many or so much time is over; prints the
//       number of commits, then p50, p99 and the longest, in microseconds
//   sqlite_child checkpoint DATABASE MODE           prints SQLite's result code
//   sqlite_child commit-on-signal DATABASE          says `ready`; commits once for each SIGUSR1 and
//       prints when that returned, in nanoseconds of the steady clock
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sqlite3.h>

namespace {

using steady = std::chrono::steady_clock;

constexpr auto insert =
    "INSERT INTO outbox_messages(destination, endpoint, payload) VALUES ('theirs', 'Note', '{}')";

sqlite3* open(const char* path) {
    sqlite3* handle = nullptr;
    if (sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) std::abort();
    sqlite3_busy_timeout(handle, 30'000);
    return handle;
}

bool run(sqlite3* handle, const char* sql) {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return true;
    std::fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(handle));
    return false;
}

struct pace {
    int commits;
    int seconds;
    int pause_ms;
};

int produce(const char* path, pace wanted) {
    auto* const handle = open(path);
    const auto end = steady::now() + std::chrono::seconds(wanted.seconds);
    std::vector<long long> took;
    while (static_cast<int>(took.size()) < wanted.commits && steady::now() < end) {
        const auto begun = steady::now();
        if (!run(handle, "BEGIN IMMEDIATE") || !run(handle, insert) || !run(handle, "COMMIT"))
            return 1;
        took.push_back(
            std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begun).count());
        if (wanted.pause_ms > 0) ::poll(nullptr, 0, wanted.pause_ms);
    }
    std::ranges::sort(took);
    if (took.empty()) took.push_back(wanted.seconds * 1'000'000LL);
    const auto at = [&](double part) {
        return took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))];
    };
    std::printf("%zu %lld %lld %lld\n", took.size(), at(0.5), at(0.99), took.back());
    sqlite3_close(handle);
    return 0;
}

int checkpoint(const char* path, std::string_view mode) {
    auto* const handle = open(path);
    sqlite3_busy_timeout(handle, 0);
    // A handle that never read anything does not know that there is a WAL.
    if (!run(handle, "SELECT count(*) FROM sqlite_schema")) return 1;
    const int how = mode == "full"       ? SQLITE_CHECKPOINT_FULL
                    : mode == "restart"  ? SQLITE_CHECKPOINT_RESTART
                    : mode == "truncate" ? SQLITE_CHECKPOINT_TRUNCATE
                                         : SQLITE_CHECKPOINT_PASSIVE;
    std::printf("%d\n", sqlite3_wal_checkpoint_v2(handle, "main", how, nullptr, nullptr));
    sqlite3_close(handle);
    return 0;
}

int commit_on_signal(const char* path) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    sigprocmask(SIG_BLOCK, &awaited, nullptr);
    auto* const handle = open(path);
    std::puts("ready");
    std::fflush(stdout);
    for (int number = 0; sigwait(&awaited, &number) == 0;) {
        if (!run(handle, insert)) return 1;
        std::printf("%lld\n", static_cast<long long>(steady::now().time_since_epoch().count()));
        std::fflush(stdout);
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view command = count > 1 ? arguments[1] : "";
    if (command == "produce" && count == 6)
        return produce(arguments[2], {.commits = std::atoi(arguments[3]),
                                      .seconds = std::atoi(arguments[4]),
                                      .pause_ms = std::atoi(arguments[5])});
    if (command == "checkpoint" && count == 4) return checkpoint(arguments[2], arguments[3]);
    if (command == "commit-on-signal" && count == 3) return commit_on_signal(arguments[2]);
    return 2;
}
