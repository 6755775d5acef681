#pragma once

#include <memory>

#include "app/cli/kit/admin_source.hpp"
#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

/// The options that say which of the messages that were given up are meant.
void declare_dead_choice(CLI::App& options, dead_choice& wanted);

/// How long a message has to live under a new id, as `--expires-in` says it.
void declare_expires_in(CLI::App& options, std::string& text);
/// Puts it into the body of a request; an empty text says nothing.
result<> add_expires_in(const std::string& text, boost::json::object& body);

std::unique_ptr<command> make_dead_edit_command();
std::unique_ptr<command> make_dead_requeue_command();
std::unique_ptr<command> make_dead_resolve_command();
std::unique_ptr<command> make_dead_reopen_command();
std::unique_ptr<command> make_dead_delete_command();

}  // namespace posthorn::cli
