#pragma once

#include <string_view>

namespace posthorn {

/// The version of these headers, as `major.minor.patch`.
///
/// The build fails unless it is also the version in the project's CMakeLists.txt.
inline constexpr std::string_view version = "0.1.0";

}  // namespace posthorn
