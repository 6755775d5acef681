#include "outbox/rules/breaker.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace posthorn {

breaker::permit breaker::permits(steady_time now) const {
    switch (state_) {
        case state::closed: return permit::all;
        case state::open: return now >= probe_at_ ? permit::one : permit::none;
        case state::probing: break;
    }
    return permit::none;
}

void breaker::probe_now(steady_time now) {
    if (state_ == state::closed) return;
    open_for_ = options_.open_min;
    if (state_ == state::open) probe_at_ = now;
}

void breaker::change(const breaker_options& options, steady_time now) {
    options_ = options;
    open_for_ = std::min(open_for_, options_.open_max);
    probe_at_ = std::min<steady_time>(probe_at_, now + options_.open_max);
}

void breaker::begin_probe() {
    POSTHORN_ASSERT(state_ == state::open);
    state_ = state::probing;
}

void breaker::drop_probe() {
    if (state_ == state::probing) state_ = state::open;
}

void breaker::note(bool answered, bool was_probe, steady_time now, double unit) {
    if (answered) {
        state_ = state::closed;
        silences_ = 0;
        return;
    }
    if (state_ == state::closed) {
        if (++silences_ < options_.silences_max) return;
        open_for_ = options_.open_min;
        return open(now, unit);
    }
    if (was_probe && state_ == state::probing) open(now, unit);
}

void breaker::open(steady_time now, double unit) {
    state_ = state::open;
    const auto shorter = std::chrono::duration<double, std::milli>(open_for_) *
                         (1 - std::clamp(options_.jitter, 0.0, 1.0) * unit);
    probe_at_ = now + std::chrono::duration_cast<std::chrono::nanoseconds>(shorter);
    open_for_ = std::min(open_for_ * 2, options_.open_max);
}

std::string_view to_string(breaker::state state) noexcept {
    switch (state) {
        case breaker::state::closed: return "closed";
        case breaker::state::open: return "open";
        case breaker::state::probing: return "probing";
    }
    POSTHORN_ASSERT(false);
    return {};
}

}  // namespace posthorn
