#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "app/cli/program.hpp"

namespace posthorn::cli {

struct printed {
    exit_code code;
    std::string out;
    std::string err;
};

/// The whole program but its process.
inline printed run(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::ostringstream out;
    std::ostringstream err;
    std::istringstream in(input);
    const auto code = run_program(arguments, {out, err, &in});
    return {code, out.str(), err.str()};
}

}  // namespace posthorn::cli
