#pragma once

#include <cstddef>

namespace posthorn::cli {

struct terminal_extent {
    std::size_t columns = 0;
    std::size_t rows = 0;
};

/// How large the terminal at standard output is: by `COLUMNS` and `LINES`, or by what it says
/// itself. Zero if it is not a terminal, such as a pipe or a file.
[[nodiscard]] terminal_extent terminal_size();

/// Whether it is one that shows colours, and its user has not forbidden them with `NO_COLOR`.
[[nodiscard]] bool terminal_has_colours();

}  // namespace posthorn::cli
