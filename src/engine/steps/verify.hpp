#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/steps/frame_cache.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Whether the history of a workflow is compared after this step: one of so many, but of long ones
/// fewer, so that no more steps are repeated than are taken. Pure.
[[nodiscard]] bool is_verified(std::int64_t steps_since, std::int64_t history, std::int64_t every);

/// Repeats a history as it was stored. The step that comes out otherwise, with both sides; nothing
/// if none does, or if the history cannot be read now.
[[nodiscard]] std::optional<std::string> find_own_difference(store& where, const frame& one);

}  // namespace posthorn
