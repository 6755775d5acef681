#pragma once

#include <span>
#include <string>

#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

/// The whole program but its process: finds the command, reads its options, runs it.
[[nodiscard]] exit_code run_program(std::span<const std::string> arguments,
                                    const console& terminal);

/// What `posthorn --help` prints.
[[nodiscard]] std::string program_help();
/// What `posthorn COMMAND --help` prints.
[[nodiscard]] std::string command_help(const command_entry& entry);

/// "unknown command 'srve'; did you mean 'serve'? Run 'posthorn help'."
[[nodiscard]] error unknown_command(std::string_view name);

}  // namespace posthorn::cli
