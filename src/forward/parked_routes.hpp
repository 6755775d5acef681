#pragma once

#include <string>
#include <string_view>

#include "forward/forward_routes.hpp"

namespace posthorn {

/// What is parked here or, asked of a centre that runs, at one of its sites.
[[nodiscard]] admin_route parked_route(const forward_office& with);

/// The site that a request names in its query, or an empty text; nothing else may stand there.
[[nodiscard]] result<std::string> site_asked_for(std::string_view query);
[[nodiscard]] task<http_response> act_at_site(const forward_office& with, std::string site, uuid id,
                                              parked_action what);

}  // namespace posthorn
