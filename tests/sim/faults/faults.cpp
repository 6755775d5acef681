#include "sim/faults/faults.hpp"

#include <algorithm>
#include <utility>

namespace posthorn::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct faults::kind {
    unsigned weight;
    void (faults::*strike)(machine&);
};

const faults::kind faults::kinds[] = {
    {1, &faults::kill},
    {2, &faults::kill_at_operation},
    {1, &faults::kill_after_foreign},
    {5, &faults::cut_power},
    {2, &faults::storm},
    {2, &faults::part},
    {1, &faults::set_clock},
    {1, &faults::freeze_clock},
    {1, &faults::fill_disk},
    {2, &faults::fail_sync},
    {1, &faults::restart_gently},
    {1, &faults::pause},
    {3, &faults::take_over},
    {2, &faults::back_up},
    {2, &faults::restore},
    {2, &faults::rotate_keys},
    {1, &faults::echo},
};

milliseconds faults::up_to(std::int64_t ms) {
    return milliseconds(world_.dice.below(static_cast<std::uint64_t>(ms) + 1));
}

machine& faults::other_than(const machine& which) {
    for (;;) {
        auto& found = world_.at(world_.dice.below(world_.size()));
        if (&found != &which) return found;
    }
}

task<> faults::run() {
    while (!healed_) {
        if (!co_await world_.loop.time().sleep_for(up_to(2 * with_.pause_mean.count()))) break;
        if (!healed_) strike();
    }
}

void faults::strike() {
    auto& victim = world_.at(world_.dice.below(world_.size()));
    if (left_alone_.contains(&victim)) return;
    if (with_.power_only) return cut_power(victim);
    unsigned total = 0;
    for (const auto& one : kinds) total += one.weight;
    auto roll = world_.dice.below(total);
    for (const auto& one : kinds) {
        if (roll < one.weight) return (this->*one.strike)(victim);
        roll -= one.weight;
    }
}

void faults::after(std::chrono::nanoseconds delay, std::function<void()> then) {
    world_.outside().spawn(call_later(delay, std::move(then)));
}

task<> faults::call_later(std::chrono::nanoseconds delay, std::function<void()> then) {
    if (co_await world_.loop.time().sleep_for(delay) && !healed_) then();
}

void faults::heal() {
    healed_ = true;
    world_.book.note("all faults end");
    world_.net.now = {};
    world_.net.cut.clear();
    for (const auto& [pair, finish] : std::exchange(rotations_, {})) finish();
    wall_time latest{};
    for (std::size_t i = 0; i < world_.size(); ++i) {
        auto& one = world_.at(i);
        one.disk().set_capacity(fault_disk::unlimited);
        one.disk().fail_next_syncs(0);
        one.disk().cut_after_operations(fault_disk::unlimited);
        one.disk().kill_after_operations(fault_disk::unlimited);
        for (auto* each : one.running()) each->pause(false);
        latest = std::max(latest, one.clock().highest());
    }
    // To the latest that any ever showed, so that nothing which was put off has to wait for more
    // than it was put off for.
    const auto ahead = latest - world_.loop.time().wall();
    for (std::size_t i = 0; i < world_.size(); ++i) world_.at(i).clock().set(ahead);
}

}  // namespace posthorn::sim
