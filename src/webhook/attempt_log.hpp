#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "base/async/bell.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "store/store.hpp"
#include "webhook/failing/failing_watch.hpp"
#include "webhook/subscription_table.hpp"

namespace posthorn {

/// Writes down what came of each attempt, after the fact: what it lost in a crash is missing from
/// a list, and from the count of an endpoint's failures.
///
/// Lifetime: outlives the transports that tell it.
/// Threads:  the network executor.
class attempt_log final : public node_service {
public:
    struct options {
        std::chrono::milliseconds kept = std::chrono::days{30};
        std::size_t waiting_max = 10'000;
        std::size_t rows_in_unit = 250;
    };

    struct deps {
        store& where;
        const environment& env;
        subscription_index& subscriptions;
        const alert_desk& alerts;
        failing_watch& failing;
    };

    attempt_log(deps with, options how) : with_(with), options_(how) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "webhook attempts"; }
    task<> run() override;

    void add(webhook_attempt one);
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    task<> write_waiting();
    void tell_of_loss(const std::vector<webhook_attempt>& some, const error& why);
    task<result<>> write(const std::vector<webhook_attempt>& some);
    /// To be sent if the endpoint has recovered, by subscription; and for those given up.
    struct messages {
        std::map<uuid, message> recovered;
        std::vector<message> exhausted;
    };
    [[nodiscard]] messages alerts_for(const std::vector<webhook_attempt>& some) const;
    task<> clean_up();

    deps with_;
    options options_;
    bell arrived_;
    std::vector<webhook_attempt> waiting_;
    std::atomic<std::uint64_t> lost_ = 0;
    std::optional<steady_time> cleaned_at_;
};

}  // namespace posthorn
