#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace posthorn::planted {

/// A program that was built with the bugs in it, and how it is asked to look for one.
struct harness {
    std::string name;     // For people.
    std::string program;  // Its path, from the folder of the tests' programs.
    std::vector<std::string> arguments{};
    int rounds = 0;  // If it is asked for them.
};

/// One bug, which is asked for in src by its name.
struct bug {
    std::string_view name;
    harness by;        // Has to end badly with it, and well without.
    std::string says;  // A regular expression: what it has to say of it.
};

/// For GoogleTest.
inline void PrintTo(const bug& one, std::ostream* out) { *out << one.name; }

/// All of them.
[[nodiscard]] const std::vector<bug>& bugs();

}  // namespace posthorn::planted
