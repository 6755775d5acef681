#pragma once

#include <memory>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

/// The options that say which of the messages that were given up are meant.
void declare_dead_choice(CLI::App& options, dead_choice& wanted);

std::unique_ptr<command> make_dead_edit_command();
std::unique_ptr<command> make_dead_requeue_command();
std::unique_ptr<command> make_dead_resolve_command();
std::unique_ptr<command> make_dead_delete_command();

}  // namespace posthorn::cli
