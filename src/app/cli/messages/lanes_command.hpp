#pragma once

#include <memory>

#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

// Members of `outbox` that are about lanes.
std::unique_ptr<command> make_lanes_command();
std::unique_ptr<command> make_pause_command();
std::unique_ptr<command> make_resume_command();
std::unique_ptr<command> make_try_command();

}  // namespace posthorn::cli
