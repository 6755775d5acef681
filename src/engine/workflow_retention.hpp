#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "base/time/clock_watch.hpp"
#include "engine/rows/workflow_rows.hpp"
#include "store/old_rows.hpp"

namespace posthorn {

struct workflow_retention_options {
    using time_kept = std::optional<std::chrono::milliseconds>;  // None: for ever.

    time_kept completed = std::chrono::days{30};
    time_kept cancelled = std::chrono::days{30};
    time_kept failed{};  // A person is to look at them.
    time_kept signals = std::chrono::days{10};
    std::chrono::milliseconds interval = std::chrono::minutes{5};
    slice_options slices{};
    clock_watch_options clock{};
};

/// Deletes instances that ended so before then, the oldest first, each with its history; of a long
/// history the last steps first, so that what is left can be read.
[[nodiscard]] result<slice_outcome> purge_ended(store_transaction& tx, instance_status how,
                                                wall_time before, const slice& room);

/// Signals of before then that no workflow can get any more. What is found so stays so, and may be
/// deleted later: a signal that is matched, lies in no mailbox and is not unclaimed is read no more.
[[nodiscard]] result<std::vector<std::int64_t>> find_spent_signals(store_reader& from,
                                                                   wall_time before,
                                                                   std::size_t count);

/// Deletes what is left of workflows that ended, and old signals, in slices.
///
/// Lifetime: `run()` once, destroyed after it returned; the rest outlives it.
/// Threads:  the executor that `run()` is on.
/// Cancel:   returns after the slice under way.
class workflow_retention final : public node_service {
public:
    workflow_retention(const environment& env, store& where, workflow_retention_options options)
        : env_(env), where_(where), clocks_(env.clock, options.clock), options_(options) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "workflow retention"; }
    task<> run() override;

private:
    task<result<>> purge();
    task<result<>> purge_all(instance_status how, std::chrono::milliseconds kept);
    task<result<>> purge_signals(std::chrono::milliseconds kept);

    const environment& env_;
    store& where_;
    clock_guard clocks_;  // A clock that has jumped makes everything look old.
    workflow_retention_options options_;
};

}  // namespace posthorn
