#include "base/time/clock_watch.hpp"

#include <algorithm>

namespace posthorn {

void clock_watch::look(wall_time wall, steady_time steady) {
    if (!last_) {
        agreed_since_ = steady;
    } else {
        steady = std::max(steady, last_->steady);  // Some machines' clocks step back a little.
        const auto real = std::chrono::floor<std::chrono::milliseconds>(steady - last_->steady);
        const auto shown = wall - last_->wall;
        if (shown - real > options_.jump_min || real - shown > options_.jump_min) {
            agreed_since_ = steady;
            seen_jump_ = true;
        }
    }
    last_ = sight{wall, steady};
}

bool clock_watch::settled() const {
    return last_ && last_->steady - agreed_since_ >= options_.hold;
}

bool clock_watch::jumped() const { return seen_jump_ && !settled(); }

// The clocks are read under the lock, so that looks come in their order.
wall_time clock_guard::look() {
    const auto wall = time_.wall();
    watch_.look(wall, time_.steady());
    return wall;
}

std::optional<wall_time> clock_guard::settled_wall() {
    const std::scoped_lock lock(mutex_);
    const auto wall = look();
    if (!watch_.settled()) return std::nullopt;
    return wall;
}

bool clock_guard::jumped() {
    const std::scoped_lock lock(mutex_);
    look();
    return watch_.jumped();
}

}  // namespace posthorn
