#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace posthorn {

/// Where the named pipe of that name lies: the socket `CoreFxPipe_NAME` in the folder for temporary
/// files, `TMPDIR` or `/tmp`, which is where programs of .NET have theirs on Linux.
/// `error_code::invalid_argument` for a name that could lead elsewhere.
[[nodiscard]] result<std::string> pipe_path(std::string_view name);

/// The same in a folder that is given. Pure.
[[nodiscard]] result<std::string> pipe_path(std::string_view name, std::string_view folder);

}  // namespace posthorn
