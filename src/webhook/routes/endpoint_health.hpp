#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/inspection.hpp"
#include "store/store.hpp"
#include "webhook/subscription.hpp"

namespace posthorn {

/// How an endpoint does, what needs a person first.
enum class endpoint_health : std::uint8_t {
    failing,     // The last attempt failed, or nothing can be sent there at all.
    disabled,    // Events pass it by.
    paused,      // Its events wait.
    delivering,  // The last attempt was taken.
    quiet,       // Nothing was sent to it within the time that attempts are kept.
};

[[nodiscard]] std::string_view to_string(endpoint_health health) noexcept;
[[nodiscard]] std::optional<endpoint_health> parse_endpoint_health(std::string_view text);

/// What the last attempts came to.
struct recent_attempts {
    std::int64_t delivered = 0;
    std::int64_t failed = 0;
    std::optional<bool> last_was_taken{};
    std::optional<std::int64_t> last_status{};
    std::optional<wall_time> last_at{};
};

/// Pure. `trouble`: why nothing can be sent to it. The last attempt: none if it was never tried.
[[nodiscard]] endpoint_health judge_endpoint(subscription_state state, std::string_view trouble,
                                             std::optional<bool> last_was_taken);

/// Whether the last attempt of each subscription that was tried was taken.
result<std::map<uuid, bool>> read_last_attempts(store_reader& from);
/// The last few attempts of one.
result<recent_attempts> read_recent_attempts(store_reader& from, const uuid& subscription);

/// Deliveries that wait, by subscription.
struct waiting_deliveries {
    std::map<uuid, destination_backlog> by_subscription{};
    bool more = false;  // So many destinations wait that some were left out.
};
result<waiting_deliveries> read_waiting_deliveries(store_reader& from, wall_time now);

/// What waits for one, and how much goes there.
struct endpoint_traffic {
    bounded_count waiting;
    std::optional<wall_time> oldest{};  // Since when the oldest that is due could have gone out.
    double delivered_per_minute = 0;    // Attempts, on average over the last minutes.
    double failed_per_minute = 0;
};
result<endpoint_traffic> read_traffic(store_reader& from, const waiting_deliveries& waiting,
                                      const uuid& subscription, wall_time now);

/// Deliveries that were given up, by subscription.
struct dead_deliveries {
    std::map<uuid, std::int64_t> by_subscription{};
    bool at_least = false;  // There are so many dead letters that not all were looked at.
};
result<dead_deliveries> read_dead_deliveries(store_reader& from);
/// Of one, all of them.
result<std::int64_t> count_dead_deliveries(store_reader& from, const uuid& subscription);

/// Of which type events are, as far as they are still kept.
result<std::map<uuid, std::string>> read_event_types(store_reader& from,
                                                     const std::set<uuid>& events);

/// A type of the events that were sent to an endpoint lately.
struct seen_type {
    std::string type;
    std::int64_t attempts = 0;
    wall_time last_at{};
};
result<std::vector<seen_type>> read_seen_types(store_reader& from, const uuid& subscription);

}  // namespace posthorn
