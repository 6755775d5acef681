#pragma once

#include <cstddef>

namespace posthorn::cli {

/// How wide the terminal at standard output is, by `COLUMNS` or by what it says itself; zero if it
/// is not a terminal, such as a pipe or a file.
[[nodiscard]] std::size_t terminal_columns();

}  // namespace posthorn::cli
