#include <algorithm>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "sim/simulation.hpp"
#include "support/proof_run.hpp"

namespace posthorn::sim {
namespace {

using test::proof_run;

/// An eighth of the seeds each, so that they run beside each other.
constexpr std::uint64_t parts = 8;

// A sanitizer makes everything several times as slow.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t slowness = 8;
#else
constexpr std::uint64_t slowness = 1;
#endif
constexpr std::uint64_t seeds_in_part = 200 / parts / slowness;
constexpr std::uint64_t cuts_in_part = 2'000 / parts / slowness;
constexpr std::uint64_t cuts_in_world = 50;

/// In one world, at least.
std::uint64_t messages_asked_for() {
    const char* const text = std::getenv("POSTHORN_PROOF_MESSAGES");
    return text == nullptr ? 1'000 : std::stoull(text);
}

/// Adds what a world has shown to what the run has.
void count(proof_run& run, const simulation_outcome& seen) {
    run.count("messages", seen.count.messages);
    run.count("effects", seen.count.effects);
    run.count("deliveries", seen.deliveries);
    run.count("repeats", seen.repeats);
    run.count("looks at the disk", seen.looks);
    run.count("nodes", seen.nodes);
    run.count("power cuts", seen.cuts);
    run.count("processes killed", seen.kills);
    run.count("rows purged", seen.count.purged);
    run.count("messages replayed", seen.replayed);
    for (const auto& [what, times] : seen.faults) run.count(what, times);
}

class sim : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(part, sim, testing::Range(std::uint64_t{0}, parts),
                         [](const auto& of) { return std::to_string(of.param + 1); });

TEST_P(sim, two_hundred_seeds_lose_nothing_and_double_nothing) {
    tally all;
    std::uint64_t cuts = 0, faults = 0;
    proof_run run("simulation", {.rounds = seeds_in_part, .first_seed = 1 + GetParam() * 25});
    for (; run.goes_on() && !HasFailure(); run.advance()) {
        const auto seen = simulate({.seed = run.seed(), .messages = messages_asked_for()});
        EXPECT_TRUE(seen.violations.empty()) << seen.report;
        count(run, seen);
        all += seen.count;
        cuts += seen.cuts;
        for (const auto& [what, times] : seen.faults) faults += times;
    }
    // Enough has happened for something to go wrong.
    if (run.done() < seeds_in_part) return;
    EXPECT_GT(all.messages, run.done() * messages_asked_for() / 2);
    EXPECT_GT(all.effects, all.messages / 4);
    EXPECT_GT(cuts, run.done());
    EXPECT_GT(faults, run.done() * 5);
}

// A round is a cut, and a world has many.
TEST_P(sim, two_thousand_power_cuts_lose_nothing_and_double_nothing) {
    tally all;
    proof_run run("power cut", {.rounds = cuts_in_part, .first_seed = 10'001 + GetParam() * 1'000});
    while (run.goes_on() && !HasFailure()) {
        const auto seen = simulate(
            {.seed = run.seed(), .messages = 100, .power_only = true, .cuts = cuts_in_world});
        EXPECT_TRUE(seen.violations.empty()) << seen.report;
        EXPECT_GE(seen.cuts, cuts_in_world);
        count(run, seen);
        all += seen.count;
        run.advance(seen.cuts);
    }
    EXPECT_GT(all.effects, all.messages / 2);
}

// Workflows among the traffic of messages: W1 to W8 and W10 to W12 after every run.
constexpr std::uint64_t flow_seeds_in_part = std::max<std::uint64_t>(1, 24 / parts / slowness);
constexpr std::uint64_t flows_in_world = 60;

void count_flows(proof_run& run, const simulation_outcome& seen) {
    count(run, seen);
    run.count("workflows", seen.flows);
}

TEST_P(sim, two_dozen_seeds_lose_no_step_of_a_workflow_and_double_none) {
    proof_run run("workflows",
                  {.rounds = flow_seeds_in_part, .first_seed = 20'001 + GetParam() * 100});
    for (; run.goes_on() && !HasFailure(); run.advance()) {
        const auto seen = simulate({.seed = run.seed(), .messages = 200, .flows = flows_in_world});
        EXPECT_TRUE(seen.violations.empty()) << seen.report;
        EXPECT_GE(seen.flows, flows_in_world);
        EXPECT_GT(seen.flow_steps, flows_in_world);
        count_flows(run, seen);
    }
}

// A round is a cut.
TEST_P(sim, power_cuts_lose_no_step_of_a_workflow_and_double_none) {
    proof_run run("workflows, power cut",
                  {.rounds = cuts_in_part / 10, .first_seed = 30'001 + GetParam() * 1'000});
    while (run.goes_on() && !HasFailure()) {
        const auto seen = simulate({.seed = run.seed(),
                                    .messages = 50,
                                    .power_only = true,
                                    .cuts = cuts_in_world / 2,
                                    .flows = flows_in_world});
        EXPECT_TRUE(seen.violations.empty()) << seen.report;
        EXPECT_GT(seen.flow_steps, flows_in_world);
        count_flows(run, seen);
        run.advance(seen.cuts);
    }
}

// Of worlds with everything in them that can happen: each that shows something new runs twice.
TEST(history, is_the_same_for_the_same_seed) {
    std::set<std::string> unseen{"backups",
                                 "clocks frozen",
                                 "clocks set wrong",
                                 "failed syncs",
                                 "full disks",
                                 "gentle restarts",
                                 "key rotations",
                                 "kills",
                                 "kills after plain SQL",
                                 "kills at an operation",
                                 "late repeats",
                                 "one-way parts",
                                 "pauses",
                                 "power cuts asked for",
                                 "restores",
                                 "retired keys tried",
                                 "storms",
                                 "take-overs asked for"};
    for (std::uint64_t seed = 1; seed <= 100 && !unseen.empty(); ++seed) {
        const simulation_options options{.seed = seed, .messages = 400};
        const auto first = simulate(options);
        const auto before = unseen.size();
        for (const auto& [what, times] : first.faults) unseen.erase(what);
        if (unseen.size() == before) continue;
        EXPECT_EQ(first.hash, simulate(options).hash) << "seed " << seed;
        EXPECT_GT(first.count.effects, 0U);
    }
    EXPECT_TRUE(unseen.empty()) << *unseen.begin() << " did not happen";
}

TEST(history, is_the_same_for_the_same_seed_when_the_power_is_cut_over_and_over) {
    const simulation_options options{.seed = 7, .messages = 100, .power_only = true, .cuts = 20};
    EXPECT_EQ(simulate(options).hash, simulate(options).hash);
}

TEST(history, is_the_same_for_the_same_seed_with_workflows) {
    const simulation_options options{.seed = 5, .messages = 100, .flows = 60};
    EXPECT_EQ(simulate(options).hash, simulate(options).hash);
}

TEST(history, is_another_one_for_another_seed) {
    EXPECT_NE(simulate({.seed = 1, .messages = 50}).hash,
              simulate({.seed = 2, .messages = 50}).hash);
}

}  // namespace
}  // namespace posthorn::sim
