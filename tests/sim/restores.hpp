#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/world.hpp"

namespace posthorn::sim {

/// Those who back services up, put an older copy in a database's place, and have the others send
/// again what it has forgotten: what `posthorn backup`, `restore` and `outbox replay --since` do.
///
/// Lifetime: the world outlives it.
/// Threads:  one.
class restores {
public:
    explicit restores(world& what) : world_(what) {}

    /// False if its database cannot be copied now.
    bool back_up(machine& which);
    /// False if there is no backup of it, or it is down.
    bool restore(machine& which);
    /// Once all faults have ended: answers of before a restore may have reached their senders after
    /// the replay. True once everybody has sent again what came to light so.
    bool replay_rest();

    [[nodiscard]] std::uint64_t backups() const noexcept { return backups_; }
    [[nodiscard]] std::uint64_t restored() const noexcept { return restored_; }
    [[nodiscard]] std::uint64_t replayed() const noexcept { return replayed_; }

private:
    struct copy {
        std::vector<std::byte> bytes;
        steady_time taken_at{};
        std::map<std::string, wall_time> clocks;  // What each machine's clock showed.
    };

    task<> replay_everywhere(machine& restored, copy from);
    bool replay(machine& sender, const machine& restored, const copy& from);
    void touch_unknown(machine& sender, machine& restored);
    void touch_under_way(machine& sender, const machine& restored);

    world& world_;
    std::map<std::string, copy> copies_;
    std::map<std::string, copy> used_;  // The oldest that each was restored from.
    bool restoring_ = false;            // One at a time: each waits until all the others are up.
    std::uint64_t backups_ = 0;
    std::uint64_t restored_ = 0;
    std::uint64_t replayed_ = 0;
};

}  // namespace posthorn::sim
