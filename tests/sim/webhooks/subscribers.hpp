#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/virtual_time.hpp"
#include "base/random.hpp"
#include "feature/feature.hpp"
#include "feature/node_builder.hpp"
#include "sim/process.hpp"
#include "webhook/webhook_client.hpp"

/// The endpoints of a world's webhooks, and the way to them.
namespace posthorn::sim {

/// Strangers' endpoints, which no crash of a node takes anything from.
///
/// Lifetime: outlives the processes that send to them.
/// Threads:  one.
class subscribers {
public:
    subscribers(virtual_time& time, random_source& dice) : time_(time), dice_(dice) {}

    struct heard {
        std::vector<std::string> order;    // Events, as they were taken first.
        std::map<std::string, int> times;  // How often each was taken.
    };

    /// One request, as it arrives; its answer comes later, or never.
    task<guarded_answer> take(guarded_request request, uuid endpoint);

    [[nodiscard]] const std::map<uuid, heard>& all() const noexcept { return all_; }
    [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }

    // Of a hundred requests.
    std::uint64_t refused = 5;
    std::uint64_t unanswered = 1;

private:
    virtual_time& time_;
    random_source& dice_;
    std::map<uuid, heard> all_;
    std::uint64_t requests_ = 0;
};

/// Shows the feature of webhooks the way to them, in place of its client for strangers.
class way_to_subscribers final : public feature {
public:
    explicit way_to_subscribers(subscribers& to) : to_(to) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "subscribers"; }
    result<> install(node_builder& into) const override;
    /// Says whose node was opened last: a dead process sends nothing.
    void belongs_to(const process& one) const { newest_->owner = &one; }

private:
    struct door final : webhook_sender {
        explicit door(subscribers& of) : to(of) {}
        task<guarded_answer> send(guarded_request request, fair_slots::asker who) override;

        subscribers& to;
        const process* owner = nullptr;
    };

    subscribers& to_;
    mutable door* newest_ = nullptr;
};

}  // namespace posthorn::sim
