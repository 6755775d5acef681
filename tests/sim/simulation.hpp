#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/checks/checks.hpp"

namespace posthorn::sim {

struct simulation_options {
    std::uint64_t seed = 1;
    std::uint64_t messages = 1'000;  // At least; handlers send more.
    bool power_only = false;
    std::uint64_t cuts = 0;   // With `power_only`: goes on until there were so many.
    std::uint64_t flows = 0;  // Workflows, at least.
    bool keep_log = false;
};

struct simulation_outcome {
    std::uint64_t hash = 0;  // Of everything that happened, in its order.
    tally count{};
    std::uint64_t cuts = 0, kills = 0, nodes = 0, deliveries = 0, looks = 0;
    std::uint64_t flows = 0, flow_steps = 0;  // Workflows that were started, and their steps.
    std::uint64_t replayed = 0, refused_signatures = 0, repeats = 0;
    std::map<std::string, std::uint64_t> faults{};  // By kind.
    double seconds = 0;                             // Of virtual time.
    std::vector<std::string> violations{};
    std::string report{};  // What is wrong, the traces of the messages concerned, how to replay it.
    std::string log{};
};

/// A whole world from one seed: its size, its work and its faults. The same seed gives the same
/// history.
simulation_outcome simulate(const simulation_options& options);

}  // namespace posthorn::sim
