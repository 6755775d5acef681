#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/async/executor.hpp"
#include "base/async/timer.hpp"
#include "base/log/log.hpp"
#include "base/run/environment.hpp"
#include "base/run/node_service.hpp"
#include "base/time/clock.hpp"
#include "base/time/clock_watch.hpp"
#include "store/store.hpp"

namespace posthorn {

/// How a file loses the room that deleted rows leave in it.
enum class vacuum_mode : std::uint8_t {
    incremental,  // Page by page, after old rows went; only in files that Posthorn made.
    weekly,       // Once a week the whole file is written anew, in a quiet minute.
    never,        // By a person, with `posthorn compact`, or not at all.
};

/// What is known when a weekly vacuum is thought of.
struct vacuum_facts {
    wall_time last{};  // Since when the file has its holes.
    wall_time now{};
    std::uint64_t units_lately = 0;  // Commits were asked for in the last minute.
};

/// Whether to do it now: after a week in a minute with little traffic, after eight days in any.
/// Pure.
[[nodiscard]] bool is_vacuum_due(const vacuum_facts& facts);

/// Writes the file anew once a week. The table `posthorn_meta` says when it was done last.
///
/// Lifetime: construct, `run()` once, destroy after `run()` returns; the rest outlives it.
/// Threads:  the executor that `run()` is on; waits for the file on `workers`.
/// Cancel:   returns, once a vacuum under way has ended.
class weekly_vacuum final : public node_service {
public:
    /// `file` is that of `where`.
    weekly_vacuum(const environment& env, store& where, file_upkeep& file)
        : env_(env), where_(where), file_(file), clocks_(env.clock) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "vacuum"; }
    task<> run() override;

private:
    task<result<>> look(std::uint64_t units_lately);
    task<result<wall_time>> last_time();
    task<result<>> note(wall_time when);

    const environment& env_;
    store& where_;
    file_upkeep& file_;
    clock_guard clocks_;
    wall_time known_{};  // When it was done last, as far as was read.
};

}  // namespace posthorn
