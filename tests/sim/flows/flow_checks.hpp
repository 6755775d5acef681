#pragma once

#include <map>
#include <string>

#include "sim/flows/flow_traffic.hpp"

namespace posthorn::sim {

/// What must be true of workflows at any time: all but W3, W8 and W11.
void look_at_flows(process& at, ledger& book);

/// What is known of a service and of those around it.
struct flow_facts {
    std::string service;
    bool clock_went_back = false;  // It says little of times then.
    const std::map<std::string, std::string>& answers;
};

/// Adds the Responses that a service has made: their correlation ids, and what became of them.
void read_answers(process& at, std::map<std::string, std::string>& into);

/// What must be true of a service's workflows once nothing moves any more: W1 to W8 and W10 to W12
/// (docs/internals/proofs.md). How many steps they have.
std::uint64_t check_flows(process& at, const flow_facts& facts, const flow_promises& promises,
                          ledger& book);

}  // namespace posthorn::sim
