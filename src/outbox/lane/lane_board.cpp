#include "outbox/lane/lane_board.hpp"

#include <utility>

namespace posthorn {
namespace {

constexpr std::size_t lanes_max = 1000;

}  // namespace

void lane_board::note(lane_state state) {
    const std::lock_guard lock(mutex_);
    const auto known = lanes_.find(state.destination);
    if (known != lanes_.end()) {
        known->second = std::move(state);
    } else if (lanes_.size() < lanes_max) {
        auto name = state.destination;
        lanes_.emplace(std::move(name), std::move(state));
    }
}

void lane_board::forget(std::string_view destination) {
    const std::lock_guard lock(mutex_);
    if (const auto known = lanes_.find(destination); known != lanes_.end()) lanes_.erase(known);
}

void lane_board::clear() {
    const std::lock_guard lock(mutex_);
    lanes_.clear();
}

std::vector<lane_state> lane_board::list() const {
    const std::lock_guard lock(mutex_);
    std::vector<lane_state> lanes;
    for (const auto& [destination, one] : lanes_) lanes.push_back(one);
    return lanes;
}

}  // namespace posthorn
