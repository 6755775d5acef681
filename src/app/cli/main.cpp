#include <cstdlib>
#include <iostream>
#include <vector>

#include "app/cli/program.hpp"
#include "store/sqlite/memory_account.hpp"

int main(int argc, char** argv) {
    posthorn::sqlite::count_no_memory();
    // gRPC writes lines of its own, one for each connection that comes to nothing: whoever can
    // connect could fill a disk.
    ::setenv("GRPC_VERBOSITY", "NONE", 0);
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto code = posthorn::cli::run_program(arguments, {std::cout, std::cerr, &std::cin});
    return static_cast<int>(code);
}
