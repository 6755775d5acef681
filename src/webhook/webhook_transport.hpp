#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/histogram.hpp"
#include "base/run/environment.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"
#include "webhook/attempt_log.hpp"
#include "webhook/counts/type_counts.hpp"
#include "webhook/event_cache.hpp"
#include "webhook/secrets/tenant_secrets.hpp"
#include "webhook/subscription_index.hpp"
#include "webhook/webhook_answer.hpp"
#include "webhook/webhook_client.hpp"

namespace posthorn {

struct webhook_counters {
    std::atomic<std::uint64_t> delivered = 0;
    std::atomic<std::uint64_t> failed = 0;
    std::atomic<std::uint64_t> disabled = 0;  // Subscriptions, by what their endpoints answered.
    histogram took_us{duration_bounds_us};
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
        webhook_sender& client;
        attempt_log& attempts;
        event_cache& events;
        webhook_counters& counters;
        type_counts& by_type;
        tenant_secrets& secrets;
    };

    explicit webhook_transport(deps with) : with_(with) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;
    task<std::vector<delivery>> deliver_again(message_batch batch,
                                              std::vector<std::int32_t> failed) override;
    [[nodiscard]] bool traces_itself() const noexcept override { return true; }

private:
    task<delivery> deliver_one(const message& child, std::int32_t attempt);
    /// What came of an attempt, for metrics.
    void count(const webhook_event& event, const webhook_verdict& verdict,
               const guarded_answer& answer, bool is_last);
    task<result<event_cache::event>> event_for(const message& child);
    task<> disable(const subscription& one, std::string why);

    deps with_;
};

}  // namespace posthorn
