#pragma once

#include "app/config/config.hpp"
#include "app/node/serve.hpp"
#include "base/result.hpp"

namespace posthorn {

/// What a process of a pair is at first where nothing is kept beside its database yet.
enum class first_role : std::uint8_t { primary, standby };

/// Whether `[standby]` names both places, so that the two may change their roles.
[[nodiscard]] bool may_change_role(const config& settings);

/// One of a pair, in the role that it kept: serves as the primary, follows as the standby, and goes
/// from the one to the other when the role changes hands. Until SIGINT or SIGTERM, as `serve`.
[[nodiscard]] result<> serve_as_one_of_a_pair(const config& settings, const serve_options& options,
                                              first_role at_first);

}  // namespace posthorn
