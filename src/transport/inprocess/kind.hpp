#pragma once

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `inprocess:`, which the node finds in the hub of its process.
[[nodiscard]] transport_kind inprocess_kind();

}  // namespace posthorn
