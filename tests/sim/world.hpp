#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.hpp"
#include "base/random.hpp"
#include "sim/checks/ledger.hpp"
#include "sim/machine.hpp"
#include "sim/network.hpp"
#include "sim/remains.hpp"
#include "sim/workload.hpp"
#include "sim/world_loop.hpp"

namespace posthorn::sim {

struct world_options {
    std::uint64_t seed = 1;
    std::size_t services = 2;
    /// How many nodes share the file of each service; one where nothing is said.
    std::vector<std::size_t> nodes{};
    bool logs_all = false;  // Every line, so that canaries show.
    handler_habits habits{};
    core_options node{};
    bool has_flows = false;  // Workflows run on every node.
};

/// What the nodes of a world are set to, so that an hour of it has much to show.
[[nodiscard]] core_options brisk_options();

/// Some services on their machines, the network between them, and what the harness knows.
///
/// Lifetime: `shut_down()` before it is destroyed.
/// Threads:  one.
class world {
public:
    explicit world(const world_options& options);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    /// Starts every machine.
    void start();
    /// Sends an errand through a service; one in doubt is repeated until it is not. False if the
    /// service is down.
    bool send(machine& from, errand what);
    void send(process& at, std::shared_ptr<const errand> what, bool earlier_doubt = false);
    /// Starts a machine's processes after a while, and again if they cannot be started.
    void boot_later(machine& which, std::chrono::nanoseconds delay);
    /// Runs until nothing is pending, in doubt or down; false if that takes longer than the limit.
    bool drain(std::chrono::nanoseconds limit);
    /// Stops everything and holds the databases against each other.
    tally shut_down();

    [[nodiscard]] machine& at(std::size_t which) { return *machines_[which]; }
    [[nodiscard]] std::size_t size() const { return machines_.size(); }
    [[nodiscard]] task_group& outside() noexcept { return outside_; }
    [[nodiscard]] bool is_drained();
    /// A database is not what its node left, so that nothing comes to its end any more.
    [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }

    world_loop loop;
    ledger book{loop.time()};
    seeded_random dice;
    network net;

private:
    surroundings around_;

public:
    workload work;
    /// Of every crash that the world takes notice of: how long until the machine is up again.
    std::function<std::chrono::nanoseconds()> downtime;

private:
    void look_for_crashes();
    task<> boot_after(machine& which, std::chrono::nanoseconds delay);
    task<> repeat(machine& from, std::shared_ptr<const errand> what);

    task_group outside_{loop.executor()};
    std::vector<std::unique_ptr<machine>> machines_;
    std::size_t in_doubt_ = 0;
    bool looks_for_crashes_ = true;
    bool is_damaged_ = false;
};

}  // namespace posthorn::sim
