#include "outbox/lane/reachability.hpp"

#include <algorithm>
#include <cstddef>

namespace posthorn {
namespace {

constexpr std::size_t peers_max = 1000;

}  // namespace

bool shows_a_peer(std::span<const delivery> answers) {
    return !std::ranges::all_of(
        answers, [](const delivery& answer) { return answer.what == outcome::unanswered; });
}

bool shows_success(std::span<const delivery> answers) {
    return std::ranges::any_of(answers, [](const delivery& answer) {
        return answer.what != outcome::unanswered && answer.what != outcome::transient;
    });
}

void reachability::note(std::string_view destination, bool reachable, wall_time now) {
    const std::lock_guard lock(mutex_);
    const auto known = peers_.find(destination);
    if (known == peers_.end()) {
        if (peers_.size() < peers_max) peers_.emplace(destination, entry{reachable, now});
    } else if (known->second.reachable != reachable) {
        known->second = {reachable, now};
    }
}

std::vector<peer_state> reachability::list() const {
    const std::lock_guard lock(mutex_);
    std::vector<peer_state> peers;
    for (const auto& [destination, one] : peers_)
        peers.push_back({destination, one.reachable, one.since});
    return peers;
}

}  // namespace posthorn
