#pragma once

#include <string_view>
#include <vector>

#include "transport/wire/transport_kind.hpp"

namespace posthorn {

/// Every way of reaching peers that this program has.
[[nodiscard]] const std::vector<transport_kind>& all_transports();
/// That of a URL's scheme; null if there is none.
[[nodiscard]] const transport_kind* transport_of(std::string_view url);

}  // namespace posthorn
