// Programs with plain SQL and their own automatic checkpoints on the databases of nodes that work.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

#include "crash/invariants.hpp"
#include "crash/links.hpp"
#include "support/proof_run.hpp"

namespace posthorn::crash {
namespace {

constexpr std::uint64_t seconds_of_a_world = 20;

// A chain that is the writer's alone.
void expect_kept(const services& world, std::int64_t promised) {
    auto target = world.open("target");
    const auto links = target.integer("SELECT count(*) FROM chain");
    EXPECT_GE(links, promised);
    std::string expected, before;
    for (std::int64_t n = 1; n <= links; ++n) {
        before = link_hash(n, before);
        expected += fmt::format("{} {}\n", n, before);
    }
    EXPECT_EQ(target.lines("SELECT n || ' ' || hash FROM chain ORDER BY n"), expected);
}

// Although nobody but a node checkpoints, it gets through.
void expect_short_logs(const services& world) {
    constexpr std::uintmax_t bytes_max = 32U << 20U;
    for (const auto* const name : {"source.db-wal", "target.db-wal"})
        EXPECT_LT(std::filesystem::file_size(world.folder().file(name)), bytes_max) << name;
}

void write_beside_nodes(test::proof_run& run, std::uint64_t seconds) {
    services world({.seed = run.seed(), .rounds = seconds});
    const std::vector<std::string> nodes{"a", "b", "target"};
    const std::vector<std::string> writers{"first", "second", "third"};
    world.start("target");
    if (!world.await_line("target", "quiet")) return;
    for (const auto* const name : {"a", "b"}) world.start(name, {"callers=2", "pause_ms=20"});
    for (const auto& name : nodes)
        if (!world.await_line(name, "ready")) return;
    for (const auto* const name : {"first", "second"}) world.start_writer(name, "source", 10);
    world.start_writer("third", "target", 10);
    for (const auto& name : writers)
        if (!world.await_line(name, "ready")) return;

    for (std::uint64_t second = 0; second < seconds && !testing::Test::HasFailure(); ++second) {
        // Nothing ends by itself while the load lasts.
        EXPECT_EQ(world.at("first").wait(std::chrono::seconds(1)), std::nullopt)
            << world.at("first").err();
        run.advance();
        if (second % 3 != 2) continue;
        // Whatever it was about to do.
        world.kill({"first"});
        world.start_writer("first", "source", 10);
        run.count("writers killed");
    }
    for (const auto& name : writers) world.stop(name);
    for (const auto* const name : {"a", "b"}) {
        world.at(name).send_signal(SIGUSR1);
        world.await_line(name, "quiet");
    }
    if (testing::Test::HasFailure() || !world.await_drained()) return;
    expect_short_logs(world);
    for (const auto& name : nodes) world.stop(name);
    const auto links =
        expect_invariants(world, {.promised = world.promised({"a", "b", "first", "second"})});
    expect_kept(world, world.promised({"third"}));
    run.count("messages", static_cast<std::uint64_t>(links));
    run.count("foreign rows at the receiver",
              static_cast<std::uint64_t>(world.target("SELECT count(*) FROM chain")));
}

TEST(foreign_writers, with_checkpoints_of_their_own_beside_two_nodes_lose_and_double_nothing) {
    test::proof_run run("foreign writers", {.rounds = seconds_of_a_world});
    while (run.goes_on() && !HasFailure()) {
        const auto left = std::max(run.rounds(), std::uint64_t{1}) - run.done();
        write_beside_nodes(run, std::min(seconds_of_a_world, left));
    }
}

}  // namespace
}  // namespace posthorn::crash
