#pragma once

#include "base/result.hpp"
#include "workflow/runner/sandbox_plan.hpp"

/// What this process puts on itself. None of it can be taken off again.
namespace posthorn::runner_child {

[[nodiscard]] kernel_facts ask_kernel();

/// Closes what it was not given, and ends with the engine that started it.
[[nodiscard]] result<> tie_to_engine(int engine_process);
/// No new rights, limits, no files, and the first filter.
[[nodiscard]] result<> confine(const sandbox_plan& plan);
/// The second filter, once the binary is loaded.
[[nodiscard]] result<> confine_further(const sandbox_plan& plan);

}  // namespace posthorn::runner_child
