#pragma once

#include "admin/access/sessions.hpp"
#include "admin/admin_surface.hpp"

namespace posthorn {

/// For the admin listener, how people sign in with a browser:
///
/// | route                | needs   | does                                                    |
/// |----------------------|---------|---------------------------------------------------------|
/// | POST /_rf/session    | nothing | takes a key, and opens a session whose token is a cookie |
/// | DELETE /_rf/session  | any key | ends it                                                 |
/// | GET /_rf/whoami      | any key | the caller's name, role and rights, and the token       |
/// |                      |         | without which a change by cookie is refused             |
struct session_parts {
    const admin_access& access;
    admin_sessions& sessions;
    audit& kept;
    const clock& time;
    logger& log;
};
void add_session_routes(admin_surface& into, session_parts parts);

}  // namespace posthorn
