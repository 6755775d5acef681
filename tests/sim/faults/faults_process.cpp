// What happens to processes.
#include <fmt/format.h>

#include "sim/faults/faults.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void faults::kill(machine& which) {
    const auto running = which.running().size();
    world_.book.note("kill " + which.service());
    count("kills");
    if (running > 1 && world_.dice.below(2) == 0)
        which.kill_one(world_.dice.below(running));
    else
        which.kill();
    world_.boot_later(which, up_to(8000));
}

void faults::kill_at_operation(machine& which) {
    const auto operations = world_.dice.below(60);
    world_.book.note(
        fmt::format("one of {} is to be killed after {} operations", which.service(), operations));
    count("kills at an operation");
    which.disk().kill_after_operations(operations);
}

// What plain SQL has committed is visible and not on disk, and whoever comes next finds it.
void faults::kill_after_foreign(machine& which) {
    if (which.running().empty() || which.has_gone_down()) return;
    count("kills after plain SQL");
    const auto messages = 1 + world_.dice.below(3);
    for (std::uint64_t i = 0; i < messages; ++i)
        which.write_foreign(other_than(which).service(), "");
    which.kill();
    world_.boot_later(which, up_to(500));
    // And then the power goes.
    if (world_.dice.below(2) == 0) cut_power(which);
}

void faults::cut_power(machine& which) {
    if (which.is_fragile()) return;
    const auto operations = world_.dice.below(120);
    world_.book.note(
        fmt::format("the power of {} is to fail after {} operations", which.service(), operations));
    count("power cuts asked for");
    which.disk().leave_garbage(world_.dice.below(4) == 0);
    which.disk().cut_after_operations(operations);
}

void faults::restart_gently(machine& which) {
    const auto running = which.running().size();
    if (running == 0) return;
    count("gentle restarts");
    which.stop_one(world_.dice.below(running));
    world_.boot_later(which, up_to(8000));
}

void faults::pause(machine& which) {
    const auto running = which.running();
    if (running.empty()) return;
    count("pauses");
    stand_still(which, *running[world_.dice.below(running.size())], up_to(30'000));
}

// The one that sends stands still past its lease with messages under way, or is killed where nobody
// can tell but by the lease; another one takes over, and the first one may come back.
void faults::take_over(machine& first) {
    auto* where = &first;
    for (std::size_t i = 0; where->processes() < 2; ++i) {
        if (i == world_.size()) return;
        where = &world_.at(i);
    }
    auto& which = *where;
    const auto running = which.running();
    if (left_alone_.contains(&which)) return;
    if (running.size() < 2 || which.has_gone_down()) return;
    for (std::size_t i = 0; i < running.size(); ++i) {
        if (!running[i]->is_open() || running[i]->is_paused() || !running[i]->is_owner()) continue;
        count("take-overs asked for");
        if (world_.dice.below(3) == 0) {
            world_.book.note("kill the one of " + which.service() + " that sends");
            which.kill_one(i);
            return world_.boot_later(which, 12s + up_to(8000));
        }
        return take_over_from(which, *running[i]);
    }
}

void faults::take_over_from(machine& which, process& one) {
    const auto span = 11s + up_to(8000);
    left_alone_.insert(&which);
    which.disk().cut_after_operations(fault_disk::unlimited);
    which.disk().kill_after_operations(fault_disk::unlimited);
    which.disk().fail_next_syncs(0);
    after(span + 2s, [this, &which] { left_alone_.erase(&which); });
    // No answer gets through meanwhile and for a while after, so that both have to record failures.
    if (world_.dice.below(3) > 0) {
        for (const auto& to : world_.net.services()) {
            if (to == which.service()) continue;
            const std::pair there{to, which.service()};
            world_.net.cut.insert(there);
            after(span + up_to(10'000), [this, there] { world_.net.cut.erase(there); });
        }
    }
    // After a moment, in which it has sent some.
    after(up_to(400), [this, &which, span, name = one.name()] {
        for (auto* each : which.running())
            if (each->name() == name && each->is_open()) stand_still(which, *each, span);
    });
}

void faults::stand_still(machine& which, process& one, milliseconds span) {
    world_.book.note(one.name() + " stands still");
    one.pause(true);
    after(span, [this, &which, name = one.name()] {
        for (auto* each : which.running()) {
            if (each->name() != name) continue;
            world_.book.note(name + " goes on");
            each->pause(false);
        }
    });
}

}  // namespace posthorn::sim
