#pragma once

#include <cstdint>
#include <string>

#include "sim/world.hpp"

namespace posthorn::sim {

/// What happens to a world: drawn from its seed.
///
/// Lifetime: the world outlives it; `run()` once.
/// Threads:  one.
/// Cancel:   `run()` returns.
class faults {
public:
    struct options {
        std::chrono::milliseconds pause_mean = std::chrono::seconds{4};
        bool power_only = false;  // Nothing but cuts, one after the other.
    };

    faults(world& what, options with) : world_(what), with_(with) {}

    /// Until `heal()`.
    task<> run();
    /// Ends all that is under way, so that everything can come to an end.
    void heal();
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    void strike();
    void kill(machine& which);
    void cut_power(machine& which);
    void storm();
    void part(machine& one, machine& other);
    void set_clock(machine& which);
    void fill_disk(machine& which);
    void fail_sync(machine& which);
    void restart_gently(machine& which);
    void pause(machine& which);
    void after(std::chrono::nanoseconds delay, std::function<void()> then);
    task<> call_later(std::chrono::nanoseconds delay, std::function<void()> then);
    [[nodiscard]] std::chrono::milliseconds up_to(std::int64_t ms);

    world& world_;
    options with_;
    bool healed_ = false;
    std::uint64_t count_ = 0;
};

}  // namespace posthorn::sim
