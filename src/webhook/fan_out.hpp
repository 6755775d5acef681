#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>

#include "base/run/environment.hpp"
#include "store/message_maker.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"
#include "webhook/counts/type_counts.hpp"
#include "webhook/event_cache.hpp"
#include "webhook/subscription_index.hpp"

namespace posthorn {

struct fan_out_counters {
    std::atomic<std::uint64_t> events = 0;
    std::atomic<std::uint64_t> unheard = 0;  // Of these, for which there was no subscription.
    std::atomic<std::uint64_t> deliveries = 0;
};

/// Where events are delivered to: makes a message of its own for every subscription of an event,
/// which says nothing but whose child it is, and is sent, retried and given up by itself.
///
/// An event is delivered when all of its children are on disk. The id of a child follows from the
/// event and the subscription, so an event that comes again after a crash makes none twice.
///
/// Lifetime: outlives the lane of events.
/// Threads:  the network executor.
class fan_out final : public transport {
public:
    struct options {
        std::chrono::milliseconds life = std::chrono::days{4};
        std::size_t children_in_unit = 250;
        std::size_t warn_from = 500;    // Subscriptions of one event.
        std::int32_t retries_max = 50;  // Whatever a subscription says.
    };
    struct deps {
        const environment& env;
        store& where;
        const message_maker& maker;
        subscription_index& subscriptions;
        event_cache& events;  // Those that were heard are wanted at once.
        fan_out_counters& counters;
        type_counts& by_type;
    };

    fan_out(deps with, options how) : with_(with), options_(how) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;
    [[nodiscard]] bool traces_itself() const noexcept override { return true; }

private:
    std::vector<message> children_of(const message& published, const subscription_set& among);
    task<std::vector<delivery>> deliver_traced(const message_batch& batch,
                                               class fan_out_trace& trace);
    void tell_of_left_out(const std::string& tenant);
    void tell_of(const message& event, std::size_t children);
    task<result<>> store_children(std::vector<message> some);

    deps with_;
    options options_;
    std::set<std::string> left_out_;  // Tenants that were told of.
};

/// What a child has for a content type: its content is that of its parent.
inline constexpr std::string_view reference_content_type =
    "application/vnd.posthorn.event-reference";

/// What a delivery has that neither its event nor its subscription says.
struct delivery_terms {
    const std::string& source;
    wall_time now;
    std::chrono::milliseconds life;
    std::int32_t retries_max;
};
/// The message that brings an event to a subscription. Pure.
[[nodiscard]] message make_delivery(const message& event, const subscription& to,
                                    const delivery_terms& terms);

/// The event that a message of `webhooks` tells of.
[[nodiscard]] webhook_event event_of(const message& published);

}  // namespace posthorn
