#pragma once

#include "sim/world.hpp"

namespace posthorn::sim {

/// Those who look after messages that were given up: they requeue some, and close those of an order
/// key, so that the messages behind them do not wait for ever.
///
/// Lifetime: the world outlives it; `run()` once.
/// Threads:  one.
/// Cancel:   `run()` returns.
class people {
public:
    explicit people(world& what) : world_(what) {}

    task<> run();
    /// Once everything is to come to an end, nothing is begun anew.
    void only_close() { only_close_ = true; }
    /// Everything that is dead, however long ago; gives how many there are.
    std::size_t requeue_all();

private:
    static std::vector<uuid> find_dead(process& at);
    void requeue_one(process& at);
    void close_keyed(process& at);

    world& world_;
    bool only_close_ = false;
};

}  // namespace posthorn::sim
