#pragma once

#include <cstdlib>
#include <string>

namespace posthorn::test {

/// Whether a bug is to be in the programs that a harness starts.
inline bool is_to_be_planted() {
    const char* const bug = std::getenv("POSTHORN_PLANTED");
    return bug != nullptr && *bug != '\0';
}

/// The program that a harness is to start: where a bug is to be planted, the one beside it that was
/// built with the bugs in it.
inline std::string planted_or(const std::string& program) {
    return is_to_be_planted() ? program + "_planted" : program;
}

}  // namespace posthorn::test
