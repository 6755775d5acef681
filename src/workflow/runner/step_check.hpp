#pragma once

#include <optional>
#include <string>

#include "workflow/binary/manifest.hpp"
#include "workflow/runner/batch.hpp"

namespace posthorn {

/// Whether a runner's answers are to this batch: the same keys, in the same order. Says how they are
/// not.
[[nodiscard]] std::optional<std::string> find_lie(const runner_batch& asked,
                                                  const std::vector<completion>& answered);

/// What a step of a deployed workflow does that its manifest does not say: a service that it does not
/// call, a signal that it does not wait for, JSON that is none, numbers that do not follow. Such a step
/// is not written. `issued` is how many commands the run had before it. Pure.
[[nodiscard]] std::optional<std::string> find_lie(const binary_manifest& manifest,
                                                  const detail::flow_step& step,
                                                  std::uint32_t issued);

}  // namespace posthorn
