#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/node/node_core.hpp"
#include "base/async/bell.hpp"
#include "sim/checks/ledger.hpp"
#include "sim/disk_query.hpp"
#include "sim/machine_clock.hpp"
#include "sim/wire.hpp"
#include "sim/world_loop.hpp"
#include "support/fault_disk/fault_disk.hpp"

namespace posthorn::sim {

class network;

/// What a world is made of, as its parts see it; all of it outlives them.
struct surroundings {
    world_loop& loop;
    ledger& book;
    network& net;
    random_source& dice;  // For what happens in the world; nodes have their own.
};

/// What a process finds on its machine.
struct host {
    std::string service;
    fault_disk& disk;
    machine_clock& clock;
    const peer_keys& keys;
    bool shared = false;  // Another process may use the same file.
    log_level level = log_level::warn;
};

/// Where a process runs what it has no thread for: at its own place, one job after the other.
///
/// Lifetime: jobs that are still to run when it is destroyed do not.
class place_executor final : public executor {
public:
    explicit place_executor(world_loop::place& where) : where_(where) {}
    void post(job work) override;
    void rest(std::chrono::nanoseconds) override {}

private:
    world_loop::place& where_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

/// One run of a node: from its start to its stop or death. Its successor is another one.
///
/// A dead process cannot be torn out of the middle of its coroutines. So it is cut off from its
/// disk, and nothing that it does counts any more; then it is asked to stop, and winds down.
///
/// Lifetime: `open`, `start`, then `stop` or `kill`; destroyed once `is_gone()`, or unless started.
/// Threads:  one.
class process {
public:
    process(const surroundings& around, const host& on, std::string name, std::uint64_t seed);
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    /// `ready` adds the handlers.
    result<> open(core_options options, const std::function<void(process&)>& ready);
    void start();
    /// Gently: what is under way ends.
    void stop();
    /// Takes the disk from it, if it still has it.
    void kill();
    void pause(bool on) { place_->paused = on; }

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& service() const noexcept { return on_.service; }
    [[nodiscard]] node_core& core() { return *core_; }
    [[nodiscard]] inprocess_hub& hub() noexcept { return hub_; }
    [[nodiscard]] wire_server& server() noexcept { return server_; }
    [[nodiscard]] const peer_keys& keys() const noexcept { return on_.keys; }
    [[nodiscard]] const machine_clock& clock() const noexcept { return on_.clock; }
    [[nodiscard]] task_group& visits() noexcept { return visits_; }
    [[nodiscard]] const fault_disk& disk() const noexcept { return on_.disk; }
    /// Takes messages and transactions.
    [[nodiscard]] bool is_open() const { return started_ && !ending_ && !is_dead(); }
    [[nodiscard]] bool is_paused() const { return place_->paused; }
    [[nodiscard]] bool is_dead() const { return killed_ || seat_->is_dead(); }
    /// Whether it is the one that may record outcomes.
    [[nodiscard]] bool is_owner() const;
    /// True for the first batches that it sends.
    [[nodiscard]] bool is_to_be_looked_at() { return looks_left_ > 0 && looks_left_-- > 0; }
    /// Its store has fail-stopped: a supervisor has to start it anew.
    [[nodiscard]] bool has_failed() const noexcept { return failed_; }
    [[nodiscard]] bool is_gone() const noexcept { return !started_ || life_.size() == 0; }

private:
    task<> live();
    void hear(std::string_view line);

    surroundings around_;
    host on_;
    std::unique_ptr<fault_disk::user> seat_;  // At the disk.
    mutable std::unique_ptr<plain_query> lease_;
    std::string name_;
    seeded_random random_;
    std::shared_ptr<world_loop::place> place_;
    inline_executor writer_, readers_, workers_;
    place_executor flows_;  // Its workflows' code.
    logger log_;
    inprocess_hub hub_;
    sim_outside connector_;
    door door_;
    wire_server server_;
    std::unique_ptr<node_core> core_;
    task_group visits_;  // Messages of others that are being taken in.
    task_group life_;
    bell end_;
    bool started_ = false;
    bool ending_ = false;
    bool killed_ = false;
    bool failed_ = false;
    int looks_left_ = 2;
};

}  // namespace posthorn::sim
