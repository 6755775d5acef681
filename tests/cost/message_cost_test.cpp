// What one message costs end to end, in units that no clock and no neighbour changes: a guard
// against becoming slower by and by. The ceilings stand a fifth above what was measured.
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cost/message_costs.hpp"
#include "support/temporary_directory.hpp"

namespace posthorn::cost {
namespace {

costs count(const load& what) {
    const test::temporary_directory place;
    return costs_of_a_message(what, place.path());
}

/// Instructions of a message, or zero where there is no valgrind.
double instructions(const load& what) {
    if (run_command("valgrind --version > /dev/null 2>&1") != 0) return 0;
    const test::temporary_directory place;
    const auto report = place.path() / "callgrind";
    const auto command = fmt::format(
        "valgrind -q --tool=callgrind --collect-atstart=no --callgrind-out-file='{}' {}",
        report.string(), quiet_pair_command("run", what, place.path()));
    EXPECT_EQ(run_command(command), 0);
    std::ifstream lines(report);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("totals: "))
            return std::stod(line.substr(8)) / (what.together * what.rounds);
    ADD_FAILURE() << "callgrind gave no totals";
    return 0;
}

void expect_within(const costs& seen, const costs& ceilings) {
    for (const auto& [name, ceiling] : ceilings) {
        ASSERT_TRUE(seen.contains(name)) << name << " was not counted";
        EXPECT_LE(seen.at(name), ceiling)
            << "a message costs more " << name << " than it may. If that is worth it, say why and "
            << "raise the ceiling; otherwise `callgrind_annotate`, EXPLAIN and a look at what has "
            << "changed tell where it comes from (bench/NOTES.md)";
        EXPECT_GT(seen.at(name), ceiling / 2)
            << "a message costs far less " << name << " than its ceiling says: lower it, so that "
            << "what was won is not lost unseen";
    }
}

TEST(message_cost, of_64_at_a_time_is_within_its_ceilings) {
    const auto seen = count({.together = 64, .rounds = 20});
    expect_within(seen, {{"allocations", 99},
                         {"statements", 5.2},
                         {"steps", 530},
                         {"syncs", 0.057},
                         {"writes", 0.122},
                         {"bytes", 5200}});
}

TEST(message_cost, of_one_at_a_time_is_within_its_ceilings) {
    const auto seen = count({.together = 1, .rounds = 200});
    expect_within(seen, {{"allocations", 263},
                         {"statements", 18},
                         {"steps", 755},
                         {"syncs", 2.45},
                         {"writes", 2.4},
                         {"bytes", 71000}});
}

TEST(message_cost, in_instructions_is_within_its_ceilings) {
    const costs seen{{"instructions at 64", instructions({.together = 64, .rounds = 5})},
                     {"instructions at 1", instructions({.together = 1, .rounds = 50})}};
    if (seen.at("instructions at 64") == 0) GTEST_SKIP() << "there is no valgrind";
    for (const auto& [name, number] : seen) fmt::print("{} {:.0f}\n", name, number);
#if defined(__aarch64__)
    expect_within(seen, {{"instructions at 64", 240'000}, {"instructions at 1", 537'000}});
#elif defined(__x86_64__)
    expect_within(seen, {{"instructions at 64", 275'000}, {"instructions at 1", 613'000}});
#endif
}

TEST(message_cost, of_tracing_that_is_off_is_nothing) {
    for (const load& each :
         {load{.together = 64, .rounds = 20}, load{.together = 1, .rounds = 50}}) {
        auto off = each;
        off.traced = "off";
        const auto without = count(each);
        const auto with = count(off);
        EXPECT_EQ(with.at("allocations"), without.at("allocations"));
        EXPECT_EQ(with.at("bytes"), without.at("bytes"));
        EXPECT_EQ(with.at("trace_clock_reads"), 0);
    }
}

TEST(message_cost, of_tracing_that_is_off_is_less_than_one_in_a_hundred_instructions) {
    for (const load& each :
         {load{.together = 64, .rounds = 5}, load{.together = 1, .rounds = 50}}) {
        auto off = each;
        off.traced = "off";
        const auto without = instructions(each);
        if (without == 0) GTEST_SKIP() << "there is no valgrind";
        const auto with = instructions(off);
        fmt::print("{:.0f} instructions without a tracer, {:.0f} with one that is off\n", without,
                   with);
        EXPECT_LE(with, without * 1.01);
    }
}

TEST(message_cost, of_tracing_everything_is_within_its_ceilings) {
    const auto seen = count({.together = 64, .rounds = 20, .traced = "on"});
    EXPECT_LE(seen.at("allocations"), 200);
    EXPECT_LE(seen.at("trace_clock_reads"), 8);
    EXPECT_EQ(seen.at("syncs"), count({.together = 64, .rounds = 20}).at("syncs"));
}

}  // namespace
}  // namespace posthorn::cost
