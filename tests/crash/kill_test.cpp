// Sender and receiver, each a process of its own or two, killed at random moments under load: any
// of them, or all at once, also while they start and recover.
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
    /// Half of the worlds have a second node on the source's database, which takes over.
    explicit killed_services(proof_folder::replay with) : services(with) {
        if (draw(2) == 0) names_.emplace_back("second");
    }

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    void start_loaded(const std::string& name) {
        start(name, {name == "target" ? "receipts=1" : "callers=4", "lease_ms=1000"});
    }

    /// Kills somebody at some moment, and starts whoever was killed. Gives how many it killed.
    std::size_t kill_somebody() {
        // At times while they start, mostly once something has arrived.
        if (draw(4) != 0) {
            if (!await_line("source", "ready")) return 0;
            if (draw(4) != 0) await_effects(1 + draw(100));
        }
        std::vector<std::string> victims;
        while (victims.empty())
            for (const auto& name : names_)
                if (draw(2) == 0) victims.push_back(name);
        EXPECT_EQ(at(victims[0]).wait(milliseconds(draw(40))), std::nullopt)
            << at(victims[0]).out() << at(victims[0]).err();
        kill(victims);
        const auto committed = promised(names_);  // First: somebody may still be at work.
        EXPECT_GE(source("SELECT max(n) FROM chain"), committed);
        for (const auto& victim : victims) start_loaded(victim);
        return victims.size();
    }

private:
    std::vector<std::string> names_{"target", "source"};
};

void kill_and_check(test::proof_run& run, std::uint64_t kills) {
    killed_services world({.seed = run.seed(), .rounds = kills});
    for (const auto& name : world.names()) {
        world.start_loaded(name);
        if (!world.await_line(name, "ready")) return;
    }
    for (std::uint64_t i = 0; i < kills && !testing::Test::HasFailure(); ++i)
        run.count("processes killed", world.kill_somebody());
    // From here on nothing fails any more.
    for (const auto& name : world.names())
        if (name != "target") world.kill({name});
    world.start("source");
    if (testing::Test::HasFailure() || !world.await_line("source", "quiet") ||
        !world.await_drained())
        return;
    run.count("asked again", world.ask_again());
    world.stop("source");
    world.stop("target");
    const auto links =
        expect_invariants(world, {.promised = world.promised(world.names()), .receipts = true});
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
