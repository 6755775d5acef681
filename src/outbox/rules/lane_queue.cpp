#include "outbox/rules/lane_queue.hpp"

#include <utility>

#include "base/assert.hpp"

namespace posthorn {

void lane_queue::push(outbox_row row) {
    auto& of_tenant = tenants_[row.body.tenant];
    of_tenant[row.body.priority].push_back(std::move(row));
    ++size_;
}

outbox_row lane_queue::pop() {
    POSTHORN_ASSERT(size_ > 0);
    auto turn = began_ ? tenants_.upper_bound(served_) : tenants_.begin();
    if (turn == tenants_.end()) turn = tenants_.begin();
    const auto urgent = turn->second.begin();
    auto row = std::move(urgent->second.front());
    urgent->second.pop_front();
    --size_;
    served_ = turn->first;
    began_ = true;
    if (urgent->second.empty()) turn->second.erase(urgent);
    if (turn->second.empty()) tenants_.erase(turn);
    return row;
}

std::vector<outbox_row> lane_queue::take_if(const std::function<bool(const outbox_row&)>& is_over) {
    std::vector<outbox_row> taken;
    for (auto&& [tenant, of_tenant] : std::exchange(tenants_, {}))
        for (auto& [priority, rows] : of_tenant)
            for (auto& row : rows)
                if (is_over(row))
                    taken.push_back(std::move(row));
                else
                    tenants_[tenant][priority].push_back(std::move(row));
    size_ -= taken.size();
    return taken;
}

std::vector<outbox_row> lane_queue::take_all() {
    return take_if([](const outbox_row&) { return true; });
}

}  // namespace posthorn
