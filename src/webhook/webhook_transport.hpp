#pragma once

#include <atomic>
#include <cstdint>

#include "base/run/environment.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"
#include "webhook/attempt_log.hpp"
#include "webhook/event_cache.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_answer.hpp"
#include "webhook/webhook_client.hpp"

namespace posthorn {

struct webhook_counters {
    std::atomic<std::uint64_t> delivered = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> disabled = 0;  // Subscriptions, by what their endpoints answered.
};

/// Brings events to the endpoints of subscribers: the lane's destination says to whose.
///
/// Lifetime: outlives the lanes of subscriptions.
/// Threads:  the network executor.
class webhook_transport final : public transport {
public:
    struct deps {
        const environment& env;
        store& where;
        subscription_index& subscriptions;
        webhook_client& client;
        attempt_log& attempts;
        webhook_counters& counters;
    };

    explicit webhook_transport(deps with) : with_(with) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;
    task<std::vector<delivery>> deliver_again(message_batch batch,
                                              std::vector<std::int32_t> failed) override;

private:
    task<delivery> deliver_one(const message& child, std::int32_t attempt);
    task<result<event_cache::event>> event_for(const message& child);
    task<> disable(const subscription& one, std::string why);

    deps with_;
    event_cache events_{std::size_t{16} << 20};
};

}  // namespace posthorn
