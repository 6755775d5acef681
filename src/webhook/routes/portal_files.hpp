#pragma once

#include <span>

#include "transport/http/served_file.hpp"

namespace posthorn {

/// `web/dist-portal`.
[[nodiscard]] std::span<const served_file> portal_files() noexcept;

}  // namespace posthorn
