// The tests of the simulator, or with --seed=N one world, or with --seeds=N many, with
// --until-found only as far as the first that finds something.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "sim/simulation.hpp"

namespace {

using posthorn::sim::simulation_options;

bool take(std::string_view argument, std::string_view name, std::uint64_t& value) {
    if (!argument.starts_with(name)) return false;
    argument.remove_prefix(name.size());
    const auto [end, problem] =
        std::from_chars(argument.data(), argument.data() + argument.size(), value);
    return problem == std::errc{} && end == argument.data() + argument.size();
}

int run_worlds(simulation_options options, std::uint64_t seeds, bool until_found) {
    std::uint64_t wrong = 0;
    posthorn::sim::tally all;
    std::map<std::string, std::uint64_t> faults;
    for (std::uint64_t i = 0; i < seeds; ++i, ++options.seed) {
        const auto seen = posthorn::sim::simulate(options);
        if (options.keep_log) fmt::print("{}", seen.log);
        all += seen.count;
        for (const auto& [what, times] : seen.faults) faults[what] += times;
        fmt::print(
            "seed {}: history {:016x}, {} nodes, {} messages ({} sent, {} dead, {} expired), {} "
            "effects ({} purged, {} forgotten, {} lapsed), {} deliveries, {} refused, {} repeats, "
            "{} replayed, {} looks, {} cuts, {} kills, {:.0f} s\n",
            options.seed, seen.hash, seen.nodes, seen.count.messages, seen.count.sent,
            seen.count.dead, seen.count.expired, seen.count.effects, seen.count.purged,
            seen.count.forgotten, seen.count.lapsed, seen.deliveries, seen.refused_signatures,
            seen.repeats, seen.replayed, seen.looks, seen.cuts, seen.kills, seen.seconds);
        std::fflush(stdout);  // Also for who looks on in a file.
        if (seen.violations.empty()) continue;
        ++wrong;
        fmt::print("{}", seen.report);
        if (until_found) return 1;
    }
    for (const auto& [what, times] : faults) fmt::print("{} {}\n", times, what);
    fmt::print("{} of {} seeds found something; {} messages\n", wrong, seeds, all.messages);
    return wrong == 0 ? 0 : 1;
}

int misunderstood(std::string_view argument) {
    fmt::print(
        stderr,
        "'{}' is not understood; write --seed=N, --seeds=N, --messages=N, --cuts=N, --flows=N, "
        "--until-found, --log or an option of GoogleTest\n",
        argument);
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    // All in one thread; so SQLite need not count what it allocates under a lock.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    simulation_options options;
    std::uint64_t seeds = 0;
    bool by_hand = false, until_found = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (take(argument, "--seed=", options.seed) || take(argument, "--seeds=", seeds))
            by_hand = true;
        else if (take(argument, "--cuts=", options.cuts))
            options.power_only = true;
        else if (take(argument, "--flows=", options.flows))
            continue;
        else if (argument == "--until-found")
            until_found = true;
        else if (argument == "--log")
            options.keep_log = true;
        else if (!take(argument, "--messages=", options.messages) &&
                 !argument.starts_with("--gtest_"))
            return misunderstood(argument);
    }
    if (by_hand) return run_worlds(options, seeds == 0 ? 1 : seeds, until_found);
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
