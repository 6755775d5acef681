#pragma once

#include <string>
#include <vector>

#include "app/cli/command_form.hpp"

namespace posthorn::cli {

/// Scripts that complete `posthorn` in a shell, made from what the commands declare. Pure.
[[nodiscard]] std::string bash_completion(const std::vector<command_form>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<command_form>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<command_form>& commands);

}  // namespace posthorn::cli
