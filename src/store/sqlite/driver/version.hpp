#pragma once

#include <string_view>

namespace posthorn {

/// The version of the SQLite library that this process runs with, such as `3.40.1`.
[[nodiscard]] std::string_view sqlite_version() noexcept;
/// 3040001 for 3.40.1.
[[nodiscard]] int sqlite_version_number() noexcept;

}  // namespace posthorn
