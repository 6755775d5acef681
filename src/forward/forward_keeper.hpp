#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "feature/node_builder.hpp"
#include "feature/upkeep_watch.hpp"
#include "forward/audit/audit_rows.hpp"
#include "forward/central_telemetry.hpp"
#include "forward/drain_watch.hpp"
#include "forward/forward_desk.hpp"
#include "forward/forward_rows.hpp"
#include "forward/replay_settings.hpp"

namespace posthorn {

/// How the backlogs of a category's targets are worked off.
struct category_drain {
    replay_phase phase = replay_phase::live;  // The worst of them.
    double rate = 0;                          // Of all together, a second; zero: no limit.
    std::optional<double> drained{};          // A second, as seen of late; negative if it grows.
    std::optional<std::chrono::seconds> left{};
    bool is_alarming = false;  // One is being replayed, and yet more comes than goes.
};

/// Knows what is held without asking the database for each who wants to know, tells the desk whose
/// lanes are shut, tells of what no attempt tells, and forgets tracked operations whose
/// time is over.
///
/// Threads: any, but for `run`.
class forward_keeper final : public node_service {
public:
    struct deps {
        store& where;
        const environment& env;
        forward_desk& desk;
        std::vector<const outbox_counters*> outbox{};
        const central_telemetry* centre = nullptr;  // If it is told of tracked work.
    };

    forward_keeper(deps with, std::chrono::milliseconds kept)
        : with_(with), kept_(kept), upkeep_(with.env.log) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "forward keeper"; }
    task<> run() override;

    [[nodiscard]] std::vector<forward_total> totals() const;
    [[nodiscard]] std::vector<health_worry> worries() const;
    /// Targets that are out, or whose backlog is worked off.
    [[nodiscard]] std::vector<target_replay> behind() const { return targets_behind(with_.outbox); }
    [[nodiscard]] category_drain drain_of(std::string_view category) const;

private:
    [[nodiscard]] std::optional<health_worry> waiting_worry() const;
    [[nodiscard]] std::optional<health_worry> parked_worry() const;
    void look_at_lanes();
    task<> look();
    task<> purge();
    task<> purge_orphans();
    task<result<>> drop(const std::vector<std::int64_t>& some, std::int64_t& dropped);
    task<> tell_decisions();
    task<result<>> tell(std::span<const untold_decision> some, std::size_t& told);

    deps with_;
    std::chrono::milliseconds kept_;
    upkeep_watch upkeep_;
    mutable std::mutex mutex_;
    std::vector<forward_total> totals_;
    std::map<std::string, drain_watch, std::less<>> drains_;
};

}  // namespace posthorn
