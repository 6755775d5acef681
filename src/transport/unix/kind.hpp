#pragma once

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// `unix:///PATH`.
[[nodiscard]] transport_kind unix_kind();

}  // namespace posthorn
