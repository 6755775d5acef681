#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// A secret that lies elsewhere, without the space behind it: `env:NAME`, `file:PATH`, or
/// `command:WORDS`, which a shell runs and which prints it, never silent for ten seconds. Fails with
/// `secret_unavailable`, or `invalid_configuration` for another text, which is not quoted.
[[nodiscard]] result<std::string> referenced_secret(std::string_view reference);

}  // namespace posthorn
