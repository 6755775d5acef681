#include <iostream>
#include <vector>

#include "app/cli/program.hpp"
#include "store/sqlite/memory_account.hpp"

int main(int argc, char** argv) {
    posthorn::sqlite::count_no_memory();
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto code = posthorn::cli::run_program(arguments, {std::cout, std::cerr, &std::cin});
    return static_cast<int>(code);
}
