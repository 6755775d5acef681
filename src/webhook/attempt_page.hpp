#pragma once

#include <vector>

#include "webhook/subscription_table.hpp"

namespace posthorn {

/// An attempt as it lies in the table, with what is known of its event.
struct listed_attempt {
    std::int64_t seq = 0;
    webhook_attempt body{};
    std::string event_type{};  // Empty once the event is gone.
};

/// Which attempts of a subscription are read, the newest first.
struct attempt_query {
    uuid subscription;
    std::int64_t limit = 50;
    std::optional<std::int64_t> before{};  // The seq of the last one of the page before.
    bool failed_only = false;              // Among the newest ten thousand of these.
};

result<std::vector<listed_attempt>> read_attempts(store_reader& from, const attempt_query& asked);
/// Those of an event, to all of its subscriptions, by their number; `after` is the seq of the last
/// one of the page before.
result<std::vector<listed_attempt>> read_attempts_of_event(store_reader& from, const uuid& event,
                                                           std::optional<std::int64_t> after,
                                                           std::int64_t limit);
result<std::optional<listed_attempt>> find_attempt(store_reader& from, const uuid& subscription,
                                                   std::int64_t seq);

}  // namespace posthorn
