#include "sim/faults.hpp"

#include <utility>

#include <fmt/format.h>

namespace posthorn::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

milliseconds faults::up_to(std::int64_t ms) {
    return milliseconds(world_.dice.below(static_cast<std::uint64_t>(ms) + 1));
}

task<> faults::run() {
    while (!healed_) {
        if (!co_await world_.loop.time().sleep_for(up_to(2 * with_.pause_mean.count()))) break;
        if (!healed_) strike();
    }
}

void faults::strike() {
    auto& dice = world_.dice;
    auto& victim = world_.at(dice.below(world_.size()));
    ++count_;
    if (with_.power_only) return cut_power(victim);
    switch (dice.below(13)) {
        case 0:
        case 1: return kill(victim);
        case 2:
        case 3:
        case 4: return cut_power(victim);
        case 5:
        case 6: return storm();
        case 7: return part(victim, world_.at(dice.below(world_.size())));
        case 8: return set_clock(victim);
        case 9: return fill_disk(victim);
        case 10: return fail_sync(victim);
        case 11: return restart_gently(victim);
        default: return pause(victim);
    }
}

void faults::kill(machine& which) {
    const auto running = which.running().size();
    if (running > 0 && world_.dice.below(2) == 0) {
        const auto operations = world_.dice.below(60);
        world_.book.note(fmt::format("one of {} is to be killed after {} operations",
                                     which.service(), operations));
        return which.disk().kill_after_operations(operations);
    }
    world_.book.note("kill " + which.service());
    if (running > 1 && world_.dice.below(2) == 0)
        which.kill_one(world_.dice.below(running));
    else
        which.kill();
    world_.boot_later(which, up_to(8000));
}

void faults::cut_power(machine& which) {
    const auto operations = world_.dice.below(120);
    world_.book.note(
        fmt::format("the power of {} is to fail after {} operations", which.service(), operations));
    which.disk().leave_garbage(world_.dice.below(4) == 0);
    which.disk().cut_after_operations(operations);
}

void faults::storm() {
    auto& dice = world_.dice;
    const auto chance = [&] { return static_cast<unsigned>(dice.below(500)); };
    world_.net.now = {
        .lost = chance(), .ack_lost = chance(), .doubled = chance(), .delayed = chance()};
    world_.book.note(fmt::format("a storm: {} lost, {} without an answer, {} doubled, {} delayed",
                                 world_.net.now.lost, world_.net.now.ack_lost,
                                 world_.net.now.doubled, world_.net.now.delayed));
    after(up_to(15'000), [this] { world_.net.now = {}; });
}

void faults::part(machine& one, machine& other) {
    if (&one == &other) return;
    const std::pair there{one.service(), other.service()};
    world_.book.note(fmt::format("{} does not reach {}", there.first, there.second));
    world_.net.cut.insert(there);
    after(up_to(30'000), [this, there] { world_.net.cut.erase(there); });
}

void faults::set_clock(machine& which) {
    auto& dice = world_.dice;
    if (dice.below(4) == 0) {
        world_.book.note("the clock of " + which.service() + " stands still");
        which.clock().freeze();
    } else {
        // Large ones make most messages expire, so they are rare.
        static constexpr milliseconds sizes[] = {3s,    4s, 20s, 1min,      5min,
                                                 30min, 6h, 30h, 24h * 3650};
        auto by = sizes[dice.below(dice.below(4) == 0 ? std::size(sizes) : 5)];
        if (dice.below(2) == 0) by = -by;
        world_.book.note(fmt::format("the clock of {} jumps by {} s", which.service(),
                                     std::chrono::duration_cast<std::chrono::seconds>(by).count()));
        which.clock().set(by);
    }
    after(up_to(20'000), [&which] { which.clock().set(0s); });
}

void faults::fill_disk(machine& which) {
    world_.book.note("the disk of " + which.service() + " is nearly full");
    which.disk().set_capacity(which.disk().bytes_used() + world_.dice.below(40'000));
    after(up_to(15'000), [&which] { which.disk().set_capacity(fault_disk::unlimited); });
}

void faults::fail_sync(machine& which) {
    world_.book.note("a sync of " + which.service() + " is to fail");
    which.disk().fail_next_syncs(1 + world_.dice.below(2));
}

void faults::restart_gently(machine& which) {
    const auto count = which.running().size();
    if (count == 0) return;
    which.stop_one(world_.dice.below(count));
    world_.boot_later(which, up_to(8000));
}

void faults::pause(machine& which) {
    const auto running = which.running();
    if (running.empty()) return;
    auto* const one = running[world_.dice.below(running.size())];
    world_.book.note(one->name() + " stands still");
    one->pause(true);
    after(up_to(30'000), [&which, name = one->name()] {
        for (auto* each : which.running())
            if (each->name() == name) each->pause(false);
    });
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
