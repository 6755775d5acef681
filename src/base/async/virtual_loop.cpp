#include "base/async/virtual_loop.hpp"

namespace posthorn {

void virtual_loop::settle() {
    context_.restart();
    while (context_.poll() > 0) {
    }
}

bool virtual_loop::run_until(const std::function<bool()>& condition,
                             std::chrono::nanoseconds limit) {
    const auto end = time_.steady() + limit;
    for (;;) {
        settle();
        if (condition()) return true;
        const auto next = time_.next();
        if (!next || *next > end) return false;
        time_.advance_to(*next);
    }
}

void virtual_loop::run_for(std::chrono::nanoseconds span) {
    const auto end = time_.steady() + span;
    run_until([] { return false; }, span);
    time_.advance_to(end);
    settle();
}

}  // namespace posthorn
