#pragma once

#include "base/result.hpp"

struct sqlite3;

namespace posthorn::sqlite {

/// What a result code of SQLite means to a caller.
[[nodiscard]] error_code classify(int extended_code) noexcept;
/// The error that the handle's last call left.
[[nodiscard]] error last_error(sqlite3* handle);

}  // namespace posthorn::sqlite
