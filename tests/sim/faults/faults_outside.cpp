// What happens to the network, the clocks and the disks.
#include <algorithm>

#include <fmt/format.h>

#include "sim/faults/faults.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void faults::storm(machine&) {
    auto& dice = world_.dice;
    const auto chance = [&] { return static_cast<unsigned>(dice.below(500)); };
    world_.net.now = {
        .lost = chance(), .ack_lost = chance(), .doubled = chance(), .delayed = chance()};
    world_.book.note(fmt::format("a storm: {} lost, {} without an answer, {} doubled, {} delayed",
                                 world_.net.now.lost, world_.net.now.ack_lost,
                                 world_.net.now.doubled, world_.net.now.delayed));
    count("storms");
    after(up_to(15'000), [this] { world_.net.now = {}; });
}

void faults::part(machine& which) {
    const std::pair there{which.service(), other_than(which).service()};
    world_.book.note(fmt::format("{} does not reach {}", there.first, there.second));
    count("one-way parts");
    world_.net.cut.insert(there);
    after(up_to(30'000), [this, there] { world_.net.cut.erase(there); });
}

void faults::set_clock(machine& which) {
    auto& dice = world_.dice;
    // Large ones make most messages expire, so they are rare.
    static constexpr milliseconds sizes[] = {3s, 4s, 20s, 1min, 4min, 30min, 6h, 30h, 24h * 3650};
    auto by = sizes[dice.below(dice.below(3) == 0 ? std::size(sizes) : 5)];
    count(by > 24h * 3000 ? "clocks wrong by ten years" : "clocks set wrong");
    if (dice.below(2) == 0) by = -by;
    world_.book.note(fmt::format("the clock of {} jumps by {} s", which.service(),
                                 std::chrono::duration_cast<std::chrono::seconds>(by).count()));
    which.clock().set(by);
    after(up_to(with_.clock_wrong_max.count()), [&which] { which.clock().set(0s); });
}

void faults::freeze_clock(machine& which) {
    world_.book.note("the clock of " + which.service() + " stands still");
    count("clocks frozen");
    which.clock().freeze();
    after(up_to(with_.clock_wrong_max.count()), [&which] { which.clock().set(0s); });
}

void faults::fill_disk(machine& which) {
    if (which.is_fragile()) return;
    world_.book.note("the disk of " + which.service() + " is nearly full");
    count("full disks");
    which.disk().set_capacity(which.disk().bytes_used() + world_.dice.below(40'000));
    after(up_to(15'000), [&which] { which.disk().set_capacity(fault_disk::unlimited); });
}

void faults::fail_sync(machine& which) {
    if (which.is_fragile()) return;
    world_.book.note("a sync of " + which.service() + " is to fail");
    count("failed syncs");
    which.disk().fail_next_syncs(1 + world_.dice.below(2));
}

void faults::echo(machine& which) {
    if (auto* const at = which.pick(world_.dice, false)) {
        count("late repeats");
        world_.net.echo(*at, 8);
    }
}

}  // namespace posthorn::sim
