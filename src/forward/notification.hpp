#pragma once

#include <string>
#include <string_view>

#include "base/log/log.hpp"
#include "feature/peer_calls.hpp"
#include "forward/forward_desk.hpp"

namespace posthorn {

/// The endpoint of a centre, and the message that it takes.
inline constexpr std::string_view notification_submit = "NotificationSubmit";

/// A notification as it leaves the site.
struct submitted_notification {
    uuid id;  // The one key from the script to the centre: the payload's own, or the work's.
    std::string payload;
};

/// The payload with the site's own word on where it comes from, whatever it said before.
/// `error_code::invalid_payload` if it is not an object, or its NotificationId is not an id. Pure.
[[nodiscard]] result<submitted_notification> stamp_notification(const forward_message& work,
                                                                std::string_view site);

/// What the centre's answer means: delivered if its ack accepts this very notification; another ack
/// is tried again and counts. Without an answer the attempt does not count. Pure.
[[nodiscard]] delivery judge_notification_ack(delivery answer, const uuid& id);

struct notification_options {
    std::string centre;  // The service that takes them.
    std::string site;
    bool discard_unreadable = false;  // Else they are parked.
};

/// The handler of category Notification: submits them to the centre, each until that has it.
[[nodiscard]] forward_asker make_notification_forwarder(notification_options options,
                                                        const peer_calls& peers, logger& log);

}  // namespace posthorn
