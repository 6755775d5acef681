#include <iostream>
#include <vector>

#include <sqlite3.h>

#include "app/cli/program.hpp"

int main(int argc, char** argv) {
    // SQLite counts the memory of all its connections under one lock, a tenth of what it does for a
    // message. This program never asks; in a program of others it is theirs to decide.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto code = posthorn::cli::run_program(arguments, {std::cout, std::cerr, &std::cin});
    return static_cast<int>(code);
}
