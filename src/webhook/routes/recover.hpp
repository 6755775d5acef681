#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time/time_range.hpp"
#include "store/store.hpp"
#include "webhook/subscription_index.hpp"

namespace posthorn {

/// Which events are recovered, by when they were published.
using recover_window = time_range;

/// Deliveries of a subscription that came to nothing.
struct failed_deliveries {
    std::int64_t dead = 0;
    std::int64_t expired = 0;
};
result<failed_deliveries> count_failed(store_reader& from, const uuid& subscription,
                                       const recover_window& when);

struct failed_slice {
    outbox_status status = outbox_status::dead;  // Or expired.
    std::vector<message> deliveries{};           // Of dead ones the id alone.
    std::int64_t next = 0;  // For `after` of the next slice; zero if this is the last.
};
result<failed_slice> find_failed(store_reader& from, const uuid& subscription, outbox_status status,
                                 const recover_window& when, std::int64_t after);
/// Lets them be tried again, each with all of its retries and until `life_end`. Gives the number of
/// those that still were as they had been found.
result<std::int64_t> try_again(store_transaction& tx, const failed_slice& some, wall_time now,
                               wall_time life_end);

/// A subscription, among all.
struct recovered_subscription {
    const subscription_set& among;
    subscription_set::target of;
};

/// Whether a subscription is told of an event, as fan-out decides it. Pure.
[[nodiscard]] bool is_told(const recovered_subscription& one, const webhook_event& event,
                           std::string_view tenant);

/// Where a look at events has come to.
struct event_place {
    std::int64_t at_ms = 0;
    std::int64_t seq = 0;
};
/// Events that were fanned out and of which a subscription has no delivery, though it is told of
/// such ones now.
struct missed_slice {
    std::vector<message> events{};      // Without their payloads.
    std::optional<event_place> next{};  // Empty at the end.
    std::int64_t looked_at = 0;
};
[[nodiscard]] event_place begin_of(const recover_window& when);
result<missed_slice> find_missed(store_reader& from, const recovered_subscription& one,
                                 const recover_window& when, event_place after);

/// Stores deliveries, but for those that are there by now. Gives how many were stored.
result<std::int64_t> insert_missed(store_transaction& tx, const std::vector<message>& deliveries);

}  // namespace posthorn
