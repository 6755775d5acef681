#pragma once

#include <boost/json/value.hpp>

#include "feature/admin_route.hpp"

namespace posthorn {

/// Takes the values of headers out that are a subscriber's own, such as `Authorization`; their
/// names, and what Posthorn itself writes, stay. Pure.
void hide_headers(boost::json::value& shown);

/// The same route, which does so for callers without the right to secrets.
[[nodiscard]] admin_route hiding_headers(admin_route of);

}  // namespace posthorn
