// Sender and receiver, each a process of its own, killed at random moments under load: either, or
// both at once, also while they start and recover.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include "crash/invariants.hpp"
#include "support/proof_run.hpp"

namespace posthorn::crash {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kills_of_a_world = 10;

class killed_services : public services {
public:
    using services::services;

    void start_source(bool loaded) { start("source", {loaded ? "callers=4" : "callers=0"}); }
    void start_target() { start("target", {"receipts=1"}); }

    /// Kills somebody at some moment, and starts whoever was killed. Gives how many it killed.
    int kill_somebody() {
        // At times while they start, mostly once something has arrived.
        if (draw(4) != 0) {
            if (!await_line("source", "ready")) return 0;
            if (draw(4) != 0) await_effects(1 + draw(100));
        }
        const auto which = draw(3);
        std::vector<std::string> victims;
        if (which != 0) victims.emplace_back("source");
        if (which != 1) victims.emplace_back("target");
        EXPECT_EQ(at(victims[0]).wait(milliseconds(draw(40))), std::nullopt)
            << at(victims[0]).out() << at(victims[0]).err();
        kill(victims);
        const auto committed = promised({"source"});  // First: it may still be at work.
        EXPECT_GE(source("SELECT max(n) FROM chain"), committed);
        for (const auto& victim : victims)
            if (victim == "source")
                start_source(true);
            else
                start_target();
        return static_cast<int>(victims.size());
    }
};

void kill_and_check(test::proof_run& run, std::uint64_t kills) {
    killed_services world({.seed = run.seed(), .rounds = kills});
    world.start_target();
    world.start_source(true);
    if (!world.await_line("target", "quiet") || !world.await_line("source", "ready")) return;
    for (std::uint64_t i = 0; i < kills && !testing::Test::HasFailure(); ++i)
        run.count("processes killed", static_cast<std::uint64_t>(world.kill_somebody()));
    // From here on nothing fails any more.
    world.kill({"source"});
    world.start_source(false);
    if (testing::Test::HasFailure() || !world.await_line("source", "quiet") ||
        !world.await_drained())
        return;
    run.count("asked again", world.ask_again());
    world.stop("source");
    world.stop("target");
    const auto links =
        expect_invariants(world, {.promised = world.promised({"source"}), .receipts = true});
    run.count("messages", static_cast<std::uint64_t>(links));
}

TEST(kill, of_either_side_or_both_at_random_moments_loses_nothing_and_doubles_nothing) {
    test::proof_run run("kill -9", {.rounds = 50});
    while (run.goes_on() && !HasFailure()) {
        const auto kills =
            std::min(kills_of_a_world, std::max(run.rounds(), std::uint64_t{1}) - run.done());
        kill_and_check(run, kills);
        run.advance(kills);
    }
}

}  // namespace
}  // namespace posthorn::crash
