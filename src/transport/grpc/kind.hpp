#pragma once

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `grpc://` and `grpcs://`.
[[nodiscard]] transport_kind grpc_kind();

}  // namespace posthorn
