#pragma once

#include "base/run/environment.hpp"
#include "feature/admin_route.hpp"
#include "store/store.hpp"

namespace posthorn {

/// `GET /_rf/audit?limit=50&before=SEQ`: entries, newest first, and where the next page
/// begins. Both outlive the route.
[[nodiscard]] admin_route audit_route(store& where, const environment& env);

}  // namespace posthorn
