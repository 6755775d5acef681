#include <iostream>
#include <vector>

#include "app/cli/kit/terminal.hpp"
#include "app/cli/program.hpp"
#include "store/sqlite/driver/memory_account.hpp"
#include "transport/grpc/grpc_log.hpp"

int main(int argc, char** argv) {
    posthorn::sqlite::count_no_memory();
    posthorn::silence_grpc();
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    const auto size = posthorn::cli::terminal_size();
    const auto code =
        posthorn::cli::run_program(arguments, {std::cout, std::cerr, &std::cin, size.columns,
                                               size.rows, posthorn::cli::terminal_has_colours()});
    return static_cast<int>(code);
}
