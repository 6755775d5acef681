#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "base/time/clock_watch.hpp"
#include "feature/node_builder.hpp"
#include "feature/upkeep_watch.hpp"
#include "forward/forward_desk.hpp"
#include "forward/forward_transport.hpp"
#include "forward/limits/buffer_rules.hpp"
#include "forward/limits/drop_box.hpp"

namespace posthorn {

/// Keeps what is held within its caps: about every second it looks for what has to go. What waits
/// is closed by its lane, which leaves alone what is being sent; what is parked is closed here.
///
/// Where there is no cap it does nothing.
///
/// Lifetime: `run()` once; everything given outlives it.
/// Threads:  any, but for `run`.
class buffer_keeper final : public node_service {
public:
    struct deps {
        store& where;
        const environment& env;
        const forward_desk& desk;
        forward_counters& counters;
        drop_box& drops;
    };

    explicit buffer_keeper(deps with)
        : with_(with), clocks_(with.env.clock), upkeep_(with.env.log) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "buffer keeper"; }
    task<> run() override;

    [[nodiscard]] std::vector<health_worry> worries() const;

private:
    /// What has to go, and why.
    struct doomed {
        held_work work;
        std::string why;
    };

    task<> look();
    result<std::vector<doomed>> find_doomed(store_reader& from, const buffer_rules& rules);
    task<> drop_parked(std::vector<doomed> some);
    [[nodiscard]] std::vector<dropped_row> dropped_rows(std::span<const doomed> some) const;

    deps with_;
    clock_guard clocks_;
    upkeep_watch upkeep_;
    mutable std::mutex mutex_;
    std::vector<std::string> full_;  // As of the last look.
};

}  // namespace posthorn
