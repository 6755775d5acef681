// A load to kill at random moments: two nodes through the public API alone. Each transaction adds a
// link to a chain and sends it; what has returned is said on standard output.
//
// usage: crash_load DIRECTORY        adds links until it is killed
//        crash_load DIRECTORY drain  adds none, and ends when all that was sent has arrived
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include <posthorn/node.hpp>

#include "crash/chain.hpp"
#include "support/eventually.hpp"

namespace {

using posthorn::crash::link_hash;

// One write, so that lines of several threads never mix and none stays in a buffer.
void say(const std::string& line) {
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(4);
}

std::int64_t add_link(posthorn::transaction& tx) {
    const auto n = tx.get<std::int64_t>("SELECT max(n) FROM chain").value_or(0) + 1;
    const auto before =
        tx.get<std::string>("SELECT hash FROM chain WHERE n = ?", n - 1).value_or("");
    const auto hash = link_hash(n, before);
    tx.execute("INSERT INTO chain VALUES (?, ?)", n, hash);
    tx.send("target", "Link", "{\"n\":" + std::to_string(n) + ",\"hash\":\"" + hash + "\"}");
    return n;
}

int drain(posthorn::node& source) {
    if (!posthorn::test::eventually([&] { return source.stats().pending == 0; })) return 1;
    say("drained\n");
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) return 2;
    const std::string directory = arguments[1];
    posthorn::node target({.service = "target", .database = directory + "/target.db"});
    target.transaction([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS effects (n INTEGER, hash TEXT)");
    });
    target.handle("Link", [](posthorn::context& c, const posthorn::message& m) {
        c.execute("INSERT INTO effects SELECT ?1 ->> 'n', ?1 ->> 'hash'", m.payload);
    });
    posthorn::node source({.service = "source",
                           .database = directory + "/source.db",
                           .routes = {{"target", "inprocess:"}},
                           .retry = {.delay_base = std::chrono::milliseconds(10)}});
    source.transaction([](posthorn::transaction& tx) {
        tx.execute("CREATE TABLE IF NOT EXISTS chain (n INTEGER, hash TEXT)");
        tx.execute("CREATE INDEX IF NOT EXISTS chain_n ON chain (n)");  // Not unique.
    });
    target.start();
    source.start();
    say("start\n");
    if (count > 2) return drain(source);

    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
            for (;;) say("committed " + std::to_string(source.transaction(add_link)) + "\n");
        });
}
