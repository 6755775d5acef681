#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace posthorn::cost {

/// What a message costs or waits for, by name.
using costs = std::map<std::string, double>;

/// Messages that go through a quiet pair in a process of its own.
struct load {
    int together = 64;
    int rounds = 20;
    std::string traced = "none";  // Or `off`: there is a tracer, but it is off. Or `on`.
};

/// The command line of that process.
[[nodiscard]] std::string quiet_pair_command(const std::string& how, const load& what,
                                             const std::filesystem::path& folder);
/// 127 if there is no such program, -1 if it was killed.
int run_command(const std::string& command);

/// Allocations, statements, steps, syncs, writes and bytes of a message. The folder may hold a
/// database of orders already.
[[nodiscard]] costs costs_of_a_message(const load& what, const std::filesystem::path& folder);
/// The virtual time that a message waits for, and the syncs that a write with one takes.
[[nodiscard]] costs waits_of_a_message();

}  // namespace posthorn::cost
