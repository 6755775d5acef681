#pragma once

#include <string_view>
#include <vector>

#include "transport/broker/broker_consumer.hpp"

namespace posthorn {

/// Every kind of broker that can be consumed from. A new one is a line of this list.
[[nodiscard]] const std::vector<broker_kind>& broker_kinds();
/// That of a URL's scheme; null if there is none.
[[nodiscard]] const broker_kind* broker_kind_of(std::string_view url);

}  // namespace posthorn
