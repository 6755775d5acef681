#include "sim/world_loop.hpp"

namespace posthorn::sim {

std::shared_ptr<world_loop::place> world_loop::add() {
    return places_.emplace_back(std::make_shared<place>());
}

void world_loop::settle() {
    bool ran = true;
    while (ran) {
        ran = false;
        // Places may be added on the way; they join in at once.
        for (std::size_t i = 0; i < places_.size(); ++i) {
            const auto here = places_[i];
            if (here->paused) continue;
            here->context.restart();
            if (here->context.poll() == 0) continue;
            ran = true;
            if (look_) look_();
        }
        std::erase_if(places_, [](const auto& one) { return one.use_count() == 1; });
    }
}

bool world_loop::run_until(const std::function<bool()>& condition, std::chrono::nanoseconds limit) {
    const auto end = time_.steady() + limit;
    for (;;) {
        settle();
        if (condition()) return true;
        const auto next = time_.next();
        if (!next || *next > end) return false;
        time_.advance_to(*next);
    }
}

void world_loop::run_for(std::chrono::nanoseconds span) {
    const auto end = time_.steady() + span;
    run_until([] { return false; }, span);
    time_.advance_to(end);
    settle();
}

}  // namespace posthorn::sim
