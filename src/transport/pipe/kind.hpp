#pragma once

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `pipe://NAME`: a Unix socket where programs of .NET have their pipes.
[[nodiscard]] transport_kind pipe_kind();

}  // namespace posthorn
