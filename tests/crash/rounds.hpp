#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/proof_run.hpp"

namespace posthorn::crash {

/// What came of one round of a harness.
struct round_outcome {
    std::string faults{};  // In words; empty if all is as it must be.
    std::map<std::string, std::uint64_t> counts{};
};

/// Does the rounds of a run, some at a time where they mostly wait. Gives what was wrong in the
/// first ones that failed, with the command that does such a round again; empty if none did.
inline std::string do_rounds(test::proof_run& run, std::uint64_t at_once, const std::string& filter,
                             const std::function<round_outcome(std::uint64_t seed)>& round) {
    for (; run.goes_on(); run.advance(at_once)) {
        at_once = std::min(at_once, std::max<std::uint64_t>(run.rounds() - run.done(), 1));
        std::vector<round_outcome> came(at_once);
        {
            std::vector<std::jthread> threads;
            for (std::uint64_t i = 0; i < at_once; ++i)
                threads.emplace_back([&, i] {
                    try {
                        came[i] = round(run.seed() + i);
                    } catch (const std::exception& failed) {
                        came[i].faults = failed.what();
                    }
                });
        }
        std::string found;
        for (std::uint64_t i = 0; i < at_once; ++i) {
            for (const auto& [what, number] : came[i].counts) run.count(what, number);
            if (!came[i].faults.empty())
                found += came[i].faults + "\nagain: POSTHORN_PROOF_ROUNDS=1 POSTHORN_PROOF_SEED=" +
                         std::to_string(run.seed() + i) +
                         " " POSTHORN_TESTS " --gtest_filter=" + filter + "\n";
        }
        if (!found.empty()) return found;
    }
    return {};
}

}  // namespace posthorn::crash
