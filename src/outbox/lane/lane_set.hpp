#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "outbox/lane/lane.hpp"

namespace posthorn {

/// The lanes of one holding of the lease, each made when its destination first comes up.
///
/// Until it is known which ones people have paused, all are.
///
/// Lifetime, Threads: as for the lanes.
class lane_set {
public:
    explicit lane_set(lane_deps with) : with_(with) {}
    ~lane_set() { with_.counters.board.clear(); }
    lane_set(const lane_set&) = delete;
    lane_set& operator=(const lane_set&) = delete;

    lane& get(std::string_view destination);
    void for_each(const std::function<void(lane&)>& visit);
    /// The epoch is over: none of them sends or records anything, nor does one to come.
    void cut_off();
    /// Destinations of those that have more in the table than they will get to soon, in order.
    [[nodiscard]] std::vector<std::string> behind() const;
    /// Destinations of those that could take so many at once, in order.
    [[nodiscard]] std::vector<std::string> with_room_for(std::size_t rows) const;
    /// What the table says now.
    void pause(const std::vector<paused_destination>& paused);
    /// Removes those that have nothing to do, and looks after the others about every second.
    void tend();
    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }

private:
    [[nodiscard]] bool is_paused(std::string_view destination) const {
        return !paused_ || paused_->contains(destination);
    }

    lane_deps with_;
    std::map<std::string, std::unique_ptr<lane>, std::less<>> lanes_;
    std::optional<std::set<std::string, std::less<>>> paused_;
    steady_time tended_at_{};
    bool is_cut_off_ = false;
};

}  // namespace posthorn
