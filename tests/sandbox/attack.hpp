#pragma once

#include <string>
#include <string_view>

/// What a binary of workflows tries that it must not do. Raw calls of the kernel, since a list of
/// imports is not what holds it.
namespace posthorn::attack {

/// `refused 1` with the number of the error, `done` if it was let, or what else came of it.
[[nodiscard]] std::string attempt(std::string_view what);

/// Every attempt that is to be refused, and leaves the process as it was. One line each.
[[nodiscard]] std::string names();

}  // namespace posthorn::attack
