#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "base/run/environment.hpp"
#include "engine/steps/engine_report.hpp"
#include "engine/steps/flow_loop.hpp"
#include "engine/steps/frame_cache.hpp"
#include "store/store.hpp"

namespace posthorn {

/// Does what workflows gave to `run`, on threads that it may block, again until it is done; what it
/// gave is then mail. A crash in between lets it be done again.
///
/// Lifetime: as the engine's; what it is given outlives it.
/// Threads:  the flow thread.
class outside_work {
public:
    struct deps {
        const environment& env;
        store& where;
        flow_loop& loop;
        engine_report& report;
    };

    explicit outside_work(deps with) : with_(with) {}

    /// Unless it is under way already.
    void start(const instance_row& of, std::uint32_t command, const frame::work& what);

private:
    void attempt(const instance_row& of, std::uint32_t command, frame::work what,
                 std::uint32_t tries);
    [[nodiscard]] bool is_awaited(const instance_row& of, std::uint32_t command) const;
    void finish(const instance_row& of, std::uint32_t command, detail::event_kind how,
                std::string payload);

    deps with_;
    std::set<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> under_way_;  // Of each run.
};

/// How long to wait before the next try, after so many in vain.
[[nodiscard]] std::chrono::milliseconds pause_after(std::uint32_t failures);

}  // namespace posthorn
