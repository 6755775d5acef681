#pragma once

#include <string>
#include <string_view>

#include "base/time/clock.hpp"
#include "inbox/handlers.hpp"

namespace posthorn {

/// The site of a service that has no name for it; such sites are told apart by their services.
inline constexpr std::string_view site_without_name = "$unknown-site";

/// A row of centre_notifications for each NotificationSubmit; a repeat changes nothing. Gives the
/// NotificationSubmitAck. Neither a name of a site nor an id that another service has used is
/// accepted. The clock outlives it.
[[nodiscard]] transactional_handler make_notification_handler(const clock& time);

/// Keeps SiteCalls as each site tells it, which is a mirror: the site's own table decides. What
/// cannot be read, or is said in the name of another service's site, is refused for good.
[[nodiscard]] transactional_handler make_telemetry_handler(const clock& time);

}  // namespace posthorn
