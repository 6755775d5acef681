#pragma once

#include <string_view>

namespace posthorn {

/// How this binary was made, for `posthorn --version` and bug reports.
struct build_info {
    std::string_view type;      // As CMake calls it: RelWithDebInfo, Debug, …
    std::string_view compiler;  // With its version.
};

[[nodiscard]] build_info this_build() noexcept;

}  // namespace posthorn
