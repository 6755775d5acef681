#include "consume/consume_hand.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace posthorn {

void consume_hand::add(std::uint64_t tag, std::string order_key) {
    held_.emplace(tag, one{.order_key = std::move(order_key)});
}

std::vector<std::uint64_t> consume_hand::next(steady_time now, std::size_t most) {
    std::vector<std::uint64_t> chosen;
    std::set<std::string_view> taken;  // Keys that have one ahead.
    for (auto& [tag, each] : held_) {
        if (chosen.size() >= most) break;
        const bool is_first = each.order_key.empty() || taken.insert(each.order_key).second;
        if (!is_first || each.at_work || each.not_before > now) continue;
        each.at_work = true;
        chosen.push_back(tag);
    }
    return chosen;
}

void consume_hand::waits(std::uint64_t tag, steady_time until) {
    const auto found = held_.find(tag);
    if (found == held_.end()) return;
    found->second.at_work = false;
    found->second.not_before = until;
}

std::optional<steady_time> consume_hand::due_at() const {
    std::optional<steady_time> soonest;
    std::set<std::string_view> taken;
    for (const auto& [tag, each] : held_) {
        const bool is_first = each.order_key.empty() || taken.insert(each.order_key).second;
        if (!is_first || each.at_work || each.not_before == steady_time{}) continue;
        soonest = std::min(soonest.value_or(each.not_before), each.not_before);
    }
    return soonest;
}

bool consume_hand::is_at_work(std::uint64_t tag) const {
    const auto found = held_.find(tag);
    return found != held_.end() && found->second.at_work;
}

}  // namespace posthorn
