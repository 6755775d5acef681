#pragma once

#include "feature/feature.hpp"

namespace posthorn {

/// Messages to the URL of a service that no route names.
[[nodiscard]] const feature& url_feature() noexcept;

}  // namespace posthorn
