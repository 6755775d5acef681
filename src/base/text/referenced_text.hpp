#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// What lies behind `env:NAME` or `file:PATH`, as it is. Fails with `secret_unavailable` where there
/// is no such variable or file, and with `invalid_configuration` for another text, which is not
/// quoted: it may be what should lie elsewhere.
[[nodiscard]] result<std::string> referenced_text(std::string_view reference);

}  // namespace posthorn
