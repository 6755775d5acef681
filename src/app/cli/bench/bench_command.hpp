#pragma once

#include <memory>

#include "app/cli/kit/command.hpp"

namespace posthorn::cli {

std::unique_ptr<command> make_bench_command();

}  // namespace posthorn::cli
