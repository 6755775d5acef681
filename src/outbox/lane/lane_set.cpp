#include "outbox/lane/lane_set.hpp"

#include <utility>

namespace posthorn {

lane& lane_set::get(std::string_view destination) {
    auto found = lanes_.find(destination);
    if (found == lanes_.end()) {
        found = lanes_.emplace(destination, nullptr).first;
        found->second = std::make_unique<lane>(found->first, with_, is_paused(destination));
        if (is_cut_off_) found->second->cut_off();
    }
    return *found->second;
}

void lane_set::for_each(const std::function<void(lane&)>& visit) {
    for (auto& [destination, one] : lanes_) visit(*one);
}

void lane_set::cut_off() {
    is_cut_off_ = true;
    for_each([](lane& one) { one.cut_off(); });
}

std::vector<std::string> lane_set::behind() const {
    std::vector<std::string> names;
    for (const auto& [destination, one] : lanes_)
        if (one->is_behind()) names.push_back(destination);
    return names;
}

std::vector<std::string> lane_set::with_room_for(std::size_t rows) const {
    std::vector<std::string> names;
    for (const auto& [destination, one] : lanes_)
        if (one->has_room_for(rows)) names.push_back(destination);
    return names;
}

void lane_set::pause(const std::vector<paused_destination>& paused) {
    std::set<std::string, std::less<>> fresh;
    for (const auto& one : paused) fresh.insert(one.destination);
    if (paused_ == fresh) return;
    paused_ = std::move(fresh);
    for (auto& [destination, one] : lanes_) one->pause(is_paused(destination));
}

void lane_set::tend() {
    std::erase_if(lanes_, [](const auto& entry) { return entry.second->is_idle(); });
    const auto now = with_.env.clock.steady();
    if (now - tended_at_ < std::chrono::seconds{1}) return;
    tended_at_ = now;
    for (auto& [destination, one] : lanes_) one->tend();
    for (auto& order : with_.routes.take_drops()) get(order.destination).drop(order.rows);
}

}  // namespace posthorn
