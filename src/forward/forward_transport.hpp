#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/run/environment.hpp"
#include "forward/central_telemetry.hpp"
#include "forward/forward_desk.hpp"
#include "forward/limits/drop_box.hpp"
#include "outbox/lane/route_source.hpp"
#include "store/message_maker.hpp"
#include "transport/transport.hpp"

namespace posthorn {

/// What was dropped to keep within a cap, by category.
///
/// Threads: any.
class drop_counts {
public:
    /// It is on disk: counted, and told to the application.
    void note(const forward_activity& what, steady_time now, const forward_desk& desk);
    [[nodiscard]] std::map<std::string, std::uint64_t> dropped() const;
    [[nodiscard]] std::optional<steady_time> last() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::uint64_t> dropped_;
    std::optional<steady_time> last_;
};

struct forward_counters {
    std::atomic<std::uint64_t> delivered = 0;
    std::atomic<std::uint64_t> retried = 0;
    std::atomic<std::uint64_t> parked = 0;
    std::atomic<std::uint64_t> refused = 0;     // At their first attempt, so never held.
    std::atomic<std::uint64_t> late = 0;        // Ended after their time was over.
    std::atomic<std::uint64_t> unobserved = 0;  // Attempts whose observer threw.
    std::atomic<std::uint64_t> thinned = 0;     // Samples that were not worth keeping.
    drop_counts drops{};
};

/// Brings work to its target by the handler of its category.
///
/// | the handler            | the first attempt                  | later                      |
/// |------------------------|------------------------------------|----------------------------|
/// | true                   | delivered                          | delivered                  |
/// | false                  | refused: closed, its caller told   | parked at once             |
/// | throws                 | held; not one of the retries       | charged; parked at the end |
/// | throws `unreachable`   | held, and its lane rests           | not charged, likewise      |
/// | throws `throttled`     | held                               | not charged                |
/// | there is none          | held; an alarm                     | held                       |
/// | takes too long         | held, and its lane rests           | not charged, likewise      |
///
/// Threads: any.
class forward_transport final : public transport {
public:
    struct deps {
        const environment& env;
        forward_desk& desk;
        const message_maker& maker;  // Of what observers send.
        forward_counters& counters;
        const central_telemetry* centre = nullptr;  // If it is told of attempts.
    };

    explicit forward_transport(deps with) : with_(with) {}

    task<std::vector<delivery>> deliver(message_batch batch) override;
    task<std::vector<delivery>> deliver_again(message_batch batch,
                                              std::vector<std::int32_t> failed) override;

private:
    task<delivery> deliver_one(const message& work, std::int32_t failed);
    /// Empty if it was not done in time.
    task<std::optional<asked_outcome>> call(const forward_handler& by, forward_message work);

    deps with_;
};

/// The ways to the targets of all categories.
class forward_ways final : public route_source {
public:
    forward_ways(transport& to, const forward_desk& desk, drop_box& drops)
        : to_(to), desk_(desk), drops_(drops) {}

    transport* find(std::string_view destination) override;
    [[nodiscard]] std::optional<route_limits> limits(std::string_view destination) const override;
    [[nodiscard]] std::vector<drop_order> take_drops() override { return drops_.take(); }

private:
    transport& to_;
    const forward_desk& desk_;
    drop_box& drops_;
};

}  // namespace posthorn
