#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/time/clock_watch.hpp"
#include "lease/lease_options.hpp"
#include "outbox/rules/breaker.hpp"
#include "outbox/rules/cron.hpp"
#include "outbox/rules/lane_window.hpp"
#include "outbox/rules/rate_limit.hpp"
#include "outbox/rules/retry_policy.hpp"
#include "outbox/rules/route_limits.hpp"
#include "store/outbox_table.hpp"

namespace posthorn {

/// Of one destination's queue in memory.
struct lane_options {
    // Held at a time, until they are settled on disk: enough for the commits of a thousand senders
    // in a row. What does not fit has to be read from the table again.
    std::size_t window_rows = 4000;
    std::size_t window_bytes = std::size_t{32} << 20;  // The same of their bytes.
    std::size_t read_rows_max = 1000;                  // From the table at a time.
    std::size_t batch_rows = 50;  // In one request, at most; fewer to one that is slow.
    std::size_t batches_in_flight_max = 8;
    rate_options rate{};
    breaker_options breaker{};
    std::chrono::milliseconds attempt_timeout = std::chrono::seconds{30};
    std::chrono::milliseconds idle_time = std::chrono::minutes{5};  // Then the lane goes away.
    std::shared_ptr<const retry_policy> retries{};                  // The node's, if null.
    bool failures_shut = false;                                     // As `route_limits` has it.
    std::optional<replay_options> replay{};                         // Likewise.
};

/// The same for a lane whose route has a say. Pure.
[[nodiscard]] lane_options with_limits(lane_options options, const route_limits& of);

/// A stranger's server tells by its answers how much it can take; for others there is the setting.
[[nodiscard]] inline lane_window::limits window_of(const lane_options& options) {
    return {options.batches_in_flight_max, options.failures_shut ? std::size_t{32} : 0};
}

/// Of what is decided after an attempt, besides the retry policy.
struct judge_options {
    std::chrono::milliseconds throttled_delay_min = std::chrono::seconds{1};
    std::chrono::milliseconds throttled_delay_max = std::chrono::hours{1};
    std::chrono::milliseconds undeliverable_delay = std::chrono::seconds{30};
    std::chrono::milliseconds unanswered_delay = std::chrono::seconds{2};  // Of no policy's.
    std::size_t error_bytes_max = 2000;  // Of a stored error text.
    bool keeps_dead = true;  // What is given up waits for a person; otherwise it is resolved.
};

/// Of recording outcomes.
struct settler_options {
    std::chrono::milliseconds commit_delay{5};  // How long an outcome waits for a commit to join.
    std::size_t outcomes_waiting_max = 1000;    // Then a commit is forced.
    std::size_t outcomes_in_unit_max = 250;     // So that one unit does not keep the writer long.
    // Of messages whose outcomes are with the writer at a time. SQLite writes a row anew to change
    // its status, and holds all that a commit has written in memory until then.
    std::size_t bytes_at_writer_max = std::size_t{16} << 20;
    std::chrono::milliseconds retry_delay_min{100};  // After the store failed; doubles each time.
    std::chrono::milliseconds retry_delay_max{1000};
    std::chrono::milliseconds alone_delay_max = std::chrono::minutes{1};  // Where one row fails.
};

/// Of messages that have an order key.
struct order_options {
    order_policy policy = order_policy::park;
    // How often to look for messages that wait for nothing, and how many keys at a time.
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    std::chrono::milliseconds retry_delay = std::chrono::seconds{1};  // After the store failed.
    std::size_t slice_keys = 500;
};

/// Of the look for messages that expire where nothing is sent.
struct expiry_options {
    std::chrono::milliseconds interval = std::chrono::seconds{5};
    std::size_t rows_max = 1'000;  // Looked at in one read,
    std::size_t slices_max = 200;  // of so many in one round.
    /// With more than that not yet on disk, the next read of the destination waits.
    std::size_t unsettled_max = 2'000;
    bool dead_too = false;  // Dead ones as well, once a minute; otherwise they wait for a person.
};

/// Of the dispatcher as a whole.
struct outbox_options {
    lane_options lane{};
    judge_options judge{};
    settler_options settler{};
    order_options order{};
    expiry_options expiry{};
    lease_options lease{};
    std::string tenant{};  // Whose messages alone are sent; all if empty.
    /// Messages are taken up only in rounds that are asked for, so many in each; as they come, if
    /// not set.
    std::optional<std::size_t> round_rows{};
    std::optional<cron> timer{};          // When to ask for one; by itself for none, if not set.
    clock_watch_options clock{};          // When to believe that a message is past its time.
    std::size_t hand_over_rows = 10'000;  // Between the writer's thread and the dispatcher.
    std::size_t hand_over_bytes = std::size_t{32} << 20;
    // Of all lanes together. When they have it, a lane that holds nothing may have one message.
    std::size_t lanes_bytes_max = std::size_t{128} << 20;
    std::chrono::milliseconds poll_interval = std::chrono::seconds{1};
    std::size_t claim_rows_max = 1'000;   // Of a destination at a time, where several dispatch.
    std::size_t sweep_rows_max = 10'000;  // Read before they are handed to the lanes.
    std::size_t sweep_bytes_max = std::size_t{32} << 20;
    std::size_t agenda_times_max = 10'000;
    std::chrono::milliseconds drain_time = std::chrono::seconds{10};  // For batches in flight.
    std::chrono::milliseconds flush_time = std::chrono::seconds{5};   // For outcomes, after that.
};

}  // namespace posthorn
