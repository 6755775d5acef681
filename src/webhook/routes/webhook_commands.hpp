#pragma once

#include <span>

#include "feature/command.hpp"

namespace posthorn {

/// `posthorn webhooks …`.
[[nodiscard]] std::span<const feature_command> webhook_commands() noexcept;

}  // namespace posthorn
