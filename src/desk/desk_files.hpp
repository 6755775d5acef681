#pragma once

#include <span>

#include "transport/http/served_file.hpp"

namespace posthorn {

/// `web/dist`.
[[nodiscard]] std::span<const served_file> desk_files() noexcept;

}  // namespace posthorn
