#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/config/config_problems.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

/// What a check of a configuration has found.
struct start_findings {
    config_problems problems{};          // Each of them keeps a node from starting.
    std::vector<std::string> remarks{};  // What a person should know, and no more.
};

/// Finds what keeps a node from starting though every key of its file can be read: secrets that are
/// missing, certificates, and SQL of handlers that the database does not take. It changes nothing,
/// and may run beside nodes at work.
void check_start(const config& settings, const clock& time, start_findings& found);

/// Reads a file and checks all of it, whatever is wrong with parts of it.
[[nodiscard]] config read_and_check(const std::filesystem::path& file, const clock& time,
                                    start_findings& found);

}  // namespace posthorn
