#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/config/config_problems.hpp"
#include "base/time/clock.hpp"

namespace posthorn {

/// What a check of a configuration has found.
struct start_findings {
    config_problems problems{};          // Each of them keeps a node from starting.
    std::vector<std::string> remarks{};  // What a person should know, and no more.
    /// Why its database could not be looked at, if so: that is not a mistake of the file, and may
    /// pass by itself, but a node does not start before it has.
    std::optional<error> unreachable{};
};

/// Finds what keeps a node from starting though every key of its file can be read: secrets that are
/// missing, certificates, what features do not take, a database that is another service's, and SQL
/// of handlers that it does not take. It changes nothing, and may run beside nodes at work.
void check_start(const config& settings, const clock& time, start_findings& found);

/// Reads a file and checks all of it, whatever is wrong with parts of it.
[[nodiscard]] config read_and_check(const std::filesystem::path& file, const clock& time,
                                    start_findings& found);

}  // namespace posthorn
