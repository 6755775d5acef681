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

/// What the console is, and how it waits; its streams are ours.
struct seen_on {
    std::size_t columns = 0;
    std::size_t rows = 0;
    bool colours = false;
    std::function<bool(std::chrono::milliseconds)> wait{};
};

inline printed run_on_console(const std::vector<std::string>& arguments, const seen_on& what) {
    std::ostringstream out;
    std::ostringstream err;
    const auto code = run_program(
        arguments, {out, err, nullptr, what.columns, what.rows, what.colours, what.wait});
    return {code, out.str(), err.str()};
}

}  // namespace posthorn::cli
