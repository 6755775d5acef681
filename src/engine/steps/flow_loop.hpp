#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/async/bell.hpp"
#include "base/async/executor.hpp"
#include "base/run/environment.hpp"
#include "engine/steps/flow_gate.hpp"

namespace posthorn {

/// The flow thread: makes a turn whenever there may be something to do, and none while there is not.
///
/// Lifetime: `run()` once; destroyed first of what its turns use.
/// Threads:  `wake`, `gate` and `stop` from any; turns and what is done later on its own thread, and
///           so is all that is posted at the gate.
/// Cancel:   `run()` returns after the turn under way, and there is no other.
class flow_loop {
public:
    flow_loop(const environment& env, std::function<void()> turn);
    ~flow_loop();
    flow_loop(const flow_loop&) = delete;
    flow_loop& operator=(const flow_loop&) = delete;

    /// Before `run()`: turns are made there, and not on a thread of its own. What is posted there runs
    /// one after the other, and not once the loop is gone.
    void use(executor& place) { lent_ = &place; }
    task<> run();
    void stop();
    void wake();

    /// For what is answered on another thread, maybe after the loop is gone.
    [[nodiscard]] const std::shared_ptr<flow_gate>& gate() const noexcept { return gate_; }
    /// On its thread: then there is a turn.
    void do_later(std::chrono::milliseconds after, std::move_only_function<void()> job);
    /// On its thread: there is a turn at that time of the wall clock, at the latest.
    void turn_at(std::int64_t wall_ms);

private:
    void turn();
    void note_next_due();

    const environment& env_;
    std::function<void()> turn_;
    std::atomic<bool> is_posted_ = false;
    std::atomic<bool> is_stopping_ = false;
    std::atomic<std::int64_t> next_due_ms_ = INT64_MAX;  // Of the wall clock.
    bell due_changed_;
    std::int64_t turn_at_ms_ = INT64_MAX;
    std::multimap<steady_time, std::move_only_function<void()>> later_;
    std::shared_ptr<flow_gate> gate_ = std::make_shared<flow_gate>();
    executor* lent_ = nullptr;
    std::unique_ptr<worker_threads> thread_;  // Last: what it runs uses the rest.
};

}  // namespace posthorn
