#pragma once

#include <functional>
#include <span>
#include <string_view>

#include <posthorn/service.hpp>

#include "base/result.hpp"

namespace posthorn {

/// What is known of the way to a destination when a node starts.
struct route_facts {
    bool exists = false;
    bool leaves_process = false;  // So that what goes over it must be signed.
    bool has_secret = false;
};

/// Whether every service that a proxy was made for can be reached: `invalid_configuration`, which
/// says what to add, if not. A message sent by name is not asked for here: it would wait.
[[nodiscard]] result<> check_uses(
    std::span<const detail::service_use> uses,
    const std::function<route_facts(std::string_view destination)>& facts_of);

}  // namespace posthorn
