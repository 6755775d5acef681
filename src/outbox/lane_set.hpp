#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "outbox/lane.hpp"

namespace posthorn {

/// The lanes of one holding of the lease, each made when its destination first comes up.
///
/// Lifetime, Threads: as for the lanes.
class lane_set {
public:
    explicit lane_set(lane_services with) : with_(with) {}

    lane& get(std::string_view destination) {
        auto found = lanes_.find(destination);
        if (found == lanes_.end()) {
            found = lanes_.emplace(destination, nullptr).first;
            found->second = std::make_unique<lane>(found->first, with_);
        }
        return *found->second;
    }
    void for_each(const std::function<void(lane&)>& visit) {
        for (auto& [destination, one] : lanes_) visit(*one);
    }
    void evict_idle() {
        std::erase_if(lanes_, [](const auto& entry) { return entry.second->is_idle(); });
    }
    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }

private:
    lane_services with_;
    std::map<std::string, std::unique_ptr<lane>, std::less<>> lanes_;
};

}  // namespace posthorn
