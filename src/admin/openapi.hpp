#pragma once

#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "admin/admin_surface.hpp"

namespace posthorn {

/// The description of these routes in OpenAPI 3.1, for programs that ask them. Pure.
///
/// What a route says of itself must be readable: that is ours, so a mistake ends the process.
[[nodiscard]] boost::json::object describe_routes(const std::vector<admin_surface::described>& all,
                                                  std::string_view version);

}  // namespace posthorn
