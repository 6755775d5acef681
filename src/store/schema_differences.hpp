#pragma once

#include <string>
#include <vector>

namespace posthorn {

class logger;

/// How a database differs from what Posthorn's steps have made in it.
struct schema_differences {
    std::vector<std::string> lost{};  // Tables and columns, in words: what they held is gone.
    std::vector<std::string>
        dropped{};  // Names of what can be made again: indexes, triggers, views.
    std::vector<std::string> changed{};  // Names of such that are there, but not as they were made.
    /// Triggers and rules on Posthorn's tables that are not Posthorn's, with the table.
    std::vector<std::string> foreign{};
};

/// Logs what was mended at a start.
void tell(const schema_differences& mended, logger& log);

}  // namespace posthorn
