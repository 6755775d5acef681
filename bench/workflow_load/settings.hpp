#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace posthorn::bench {

/// What the two programs that `bench/workflows` takes turns with are asked for.
struct workflow_settings {
    std::string mode = "chains";
    std::uint64_t count = 20'000;
    std::uint64_t at_once = 64;
    std::uint64_t beside = 0;
    std::string folder{};
};

/// Throws for what it does not know. SQLite counts no memory from then on, as in the program.
[[nodiscard]] workflow_settings read_workflow_settings(std::span<char*> words);

/// Of the whole process so far.
[[nodiscard]] double processor_seconds();

/// `processor_before` was used for something else.
void print_chains(const workflow_settings& with, double seconds, double processor_before = 0);
/// Nanoseconds of each.
void print_alone(std::vector<std::int64_t> took);

}  // namespace posthorn::bench
