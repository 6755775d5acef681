#pragma once

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `kafka://` and `kafkas://`.
[[nodiscard]] transport_kind kafka_kind();

}  // namespace posthorn
