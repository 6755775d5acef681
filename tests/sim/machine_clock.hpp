#pragma once

#include <algorithm>
#include <chrono>

#include "base/virtual_time.hpp"

namespace posthorn::sim {

/// The clocks of one machine: the wall clock can be set, the steady one is the world's.
class machine_clock final : public clock {
public:
    explicit machine_clock(const virtual_time& base) : base_(base) {}

    [[nodiscard]] wall_time wall() const override { return base_.wall() + offset_; }
    [[nodiscard]] steady_time steady() const override { return base_.steady(); }

    void jump(std::chrono::milliseconds by) {
        offset_ += by;
        highest_ = std::max(highest_, offset_);
    }
    /// To the latest that it ever showed, so that nothing which was put off has to wait for more
    /// than it was put off for.
    void catch_up() { offset_ = highest_; }

private:
    const virtual_time& base_;
    std::chrono::milliseconds offset_{};
    std::chrono::milliseconds highest_{};
};

}  // namespace posthorn::sim
