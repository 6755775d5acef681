#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace posthorn {

/// What a person asks of a store, through the admin endpoints of a running node or the command line
/// on the file. All of it blocks; none of it may be called inside a unit.

/// Numbers past this are not counted, so that a look at a huge table stays cheap.
inline constexpr std::int64_t admin_count_max = 1'000'000;

struct outbox_overview {
    bounded_count pending;
    bounded_count dead;
    bounded_count dead_messages;  // Of these, but for deliveries to subscribers.
    bounded_count expired;
    bounded_count resolved;
    std::optional<bounded_count> sent{};  // Only if asked for: there may be very many.

    /// How long the oldest message that could have gone out has waited; zero if none waits.
    std::chrono::milliseconds oldest_age{};
    std::vector<destination_backlog> backlog;  // By destination.
    bool more_destinations = false;            // Some were left out of the list.

    bounded_count undeliverable;      // An alarm: an operator must mend a route or a handler.
    std::string undeliverable_error;  // Of one of them.
    std::string undeliverable_destination;

    blocked_report blocked{};  // Where messages wait behind one that was given up.
};

/// Of the destinations with the most undeliverable messages up to three, the worst first. Pure.
struct undeliverable_cause {
    std::string destination;
    std::string error;  // Of one of them.
    bounded_count count;

    bool operator==(const undeliverable_cause&) const = default;
};
[[nodiscard]] std::vector<undeliverable_cause> undeliverable_causes(
    const std::vector<destination_backlog>& backlog);

/// How many wait so, over all keys.
[[nodiscard]] bounded_count waiting_in(const blocked_report& blocked);

struct overview_options {
    backlog_limits limits{};
    blocked_limits blocked{};
    bool count_sent = false;
};

/// How the outbox is, in one snapshot.
[[nodiscard]] result<outbox_overview> overview_outbox(store& where, wall_time now,
                                                      const overview_options& options = {});

[[nodiscard]] result<message_list> list_messages(store& where, const message_filter& wanted);
/// `error_code::not_found` if there is no such message.
[[nodiscard]] result<message_detail> show_message(store& where, const uuid& id, bool with_payload);

struct inbox_overview {
    bounded_count size;
    std::uint64_t processed = 0;  // These three since the node started.
    std::uint64_t duplicates = 0;
    double duplicate_rate = 0;  // Of what came; zero while nothing did.
};

/// What the counters of a running inbox say; none without one.
struct inbox_traffic {
    std::uint64_t processed = 0;
    std::uint64_t duplicates = 0;
};

[[nodiscard]] result<inbox_overview> overview_inbox(store& where,
                                                    const inbox_traffic& traffic = {});
[[nodiscard]] result<inbox_list> list_inbox(store& where, const inbox_filter& wanted);

}  // namespace posthorn
