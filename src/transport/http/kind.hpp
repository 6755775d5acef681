#pragma once

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `http://` and `https://`.
[[nodiscard]] transport_kind http_kind();

}  // namespace posthorn
