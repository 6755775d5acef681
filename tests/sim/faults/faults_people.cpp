// What people do to services that run: backups, restores, new keys.
#include <fmt/format.h>

#include "message/wire/envelope.hpp"
#include "sim/faults/faults.hpp"

namespace posthorn::sim {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void faults::back_up(machine& which) {
    if (!restores_.back_up(which)) return;
    count("backups");
    // Half of them are needed.
    if (world_.dice.below(2) == 0) after(2s + up_to(15'000), [this, &which] { restore(which); });
}

void faults::restore(machine& which) {
    if (left_alone_.contains(&which)) return;
    if (restores_.restore(which)) count("restores");
}

// As `posthorn keys rotate` on one side, and the file copied to the other a while later; the new
// key begins to sign only when both have it.
void faults::rotate_keys(machine& which) {
    auto& peer = other_than(which);
    const auto pair = std::minmax(which.service(), peer.service());
    if (rotations_.contains(pair)) return;
    auto file = which.keys().file_of(peer.service());
    const auto old = file.keys().front();
    const auto until_signing = 3s + up_to(5000), overlap = 1s + up_to(10'000);
    value_or_throw(file.rotate(
        draw_secret(world_.dice),
        {.now = world_.loop.time().wall(), .after = until_signing, .overlap = overlap}));
    count("key rotations");
    world_.book.note(fmt::format("{} has a new key for {}", which.service(), peer.service()));
    which.keys().install(peer.service(), file);
    rotations_[pair] = [this, &which, &peer, file] {
        peer.keys().install(which.service(), file);
        world_.book.note(fmt::format("{} has the new key for {}", peer.service(), which.service()));
    };
    after(up_to(2500), [this, pair] {
        const auto found = rotations_.find(pair);
        if (found == rotations_.end()) return;
        found->second();
        rotations_.erase(found);
    });
    // Its date follows from the file, which knows when the old key is no longer needed.
    for (const auto& key : file.keys())
        if (key.id == old.id && key.verifies_until)
            after(until_signing + overlap + 1s,
                  [this, &which, from = peer.service(), key] { probe_retired(which, from, key); });
}

// Whoever has stolen a key that is past its date: what they send is no message of anybody's, and if
// it took effect it would be one that was never sent.
void faults::probe_retired(machine& at, const std::string& from, const signing_key& key) {
    auto* const server = at.pick(world_.dice, false);
    if (server == nullptr || at.clock().wall() <= *key.verifies_until) return;
    // A later rotation gives a key that still signs a later date.
    for (const auto& now : at.keys().file_of(from).keys())
        if (now.id == key.id && at.clock().wall() <= *now.verifies_until) return;
    count("retired keys tried");
    uuid_generator ids([this] { return world_.loop.time().wall(); }, world_.dice);
    message forged;
    forged.id = ids.next();
    forged.source = from;
    forged.destination = at.service();
    forged.endpoint = "Effect";
    forged.payload = payload_of("", 0);
    forged.created_at = at.clock().wall();
    forged.expires_at = forged.created_at + 1h;
    auto stolen = key;
    stolen.verifies_until.reset();
    stolen.signs_from.reset();
    world_.net.forge(at.service(), forged, key_ring({stolen}), at.clock().wall());
}

}  // namespace posthorn::sim
