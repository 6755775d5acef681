#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/async/bell.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "feature/node_builder.hpp"
#include "store/message_maker.hpp"
#include "store/store.hpp"
#include "webhook/failing/failing_endpoint.hpp"
#include "webhook/subscription_index.hpp"

namespace posthorn {

/// Tells of endpoints: to the log, and as a message to whom the operator named.
///
/// Lifetime: what it is given outlives it.
/// Threads:  any.
class alert_desk {
public:
    /// No messages where `destination` is empty.
    alert_desk(const message_maker& maker, logger& log, std::string destination)
        : maker_(maker), log_(log), destination_(std::move(destination)) {}

    [[nodiscard]] bool sends() const noexcept { return !destination_.empty(); }
    /// The message, to be inserted; empty without a destination, and where it cannot be made,
    /// which is logged: what it tells of goes on.
    [[nodiscard]] std::optional<message> make(const webhook_alert& alert) const;

private:
    const message_maker& maker_;
    logger& log_;
    std::string destination_;
};

/// Sees to endpoints that do nothing but fail: alerts as it gets worse, and disables them at last.
///
/// Lifetime: outlives the attempt log, which rings.
/// Threads:  the network executor; `ring` and `worries` on any.
class failing_watch final : public node_service {
public:
    struct deps {
        store& where;
        const environment& env;
        subscription_index& subscriptions;
        const alert_desk& alerts;
    };

    failing_watch(deps with, failing_rules rules) : with_(with), rules_(rules) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "failing webhooks"; }
    task<> run() override;

    /// Something failed.
    void ring() { failed_.ring(); }
    [[nodiscard]] std::vector<health_worry> worries() const;
    [[nodiscard]] std::uint64_t disabled() const noexcept { return disabled_; }

private:
    task<result<>> look();
    task<result<std::int32_t>> judge(const failing_endpoint& one, subscription_set::target of);
    task<result<>> tell(const failing_endpoint& one, const subscription& of, std::int32_t level);

    deps with_;
    failing_rules rules_;
    bell failed_;
    std::map<uuid, wall_time> judged_;  // Their last failures, as they were judged.
    std::atomic<std::uint64_t> disabled_ = 0;
    mutable std::mutex mutex_;
    std::size_t troubled_ = 0;  // That an alert told of.
    std::string worst_;
};

}  // namespace posthorn
