#pragma once

#include <cstdlib>
#include <string>

namespace posthorn::test {

/// The program that a harness is to start: where a bug is to be planted, the one beside it that was
/// built with the bugs in it.
inline std::string planted_or(const std::string& program) {
    return std::getenv("POSTHORN_PLANTED") == nullptr ? program : program + "_planted";
}

}  // namespace posthorn::test
