#pragma once

#include <vector>

#include "base/result.hpp"
#include "security/address_guard.hpp"

namespace posthorn {

/// The addresses of this machine's interfaces, as they are now; `io_failed` if the system does not
/// tell them.
[[nodiscard]] result<std::vector<ip_address>> own_addresses();

}  // namespace posthorn
