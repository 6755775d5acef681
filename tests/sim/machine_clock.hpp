#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/virtual_time.hpp"

namespace posthorn::sim {

/// The clocks of one machine: the wall clock can be set and can stand still, the steady one is the
/// world's.
class machine_clock final : public clock {
public:
    explicit machine_clock(const virtual_time& base) : base_(base) {}

    [[nodiscard]] wall_time wall() const override {
        return frozen_ ? *frozen_ : base_.wall() + offset_;
    }
    [[nodiscard]] steady_time steady() const override { return base_.steady(); }

    /// To the true time, and so much beside it.
    void set(std::chrono::milliseconds beside) {
        const auto before = wall();
        highest_ = std::max(highest_, before);
        frozen_.reset();
        offset_ = beside;
        went_back_ |= wall() < before;
        highest_ = std::max(highest_, wall());
        settings_.emplace_back(steady(), wall());
    }
    void freeze() { frozen_ = wall(); }
    [[nodiscard]] std::chrono::milliseconds error() const { return wall() - base_.wall(); }

    /// The latest that it ever showed.
    [[nodiscard]] wall_time highest() const { return std::max(highest_, wall()); }
    [[nodiscard]] bool went_back() const noexcept { return went_back_; }
    /// The earliest that it has shown since then, if it showed `at` then.
    [[nodiscard]] wall_time lowest_since(steady_time then, wall_time at) const {
        for (const auto& [when, shown] : settings_)
            if (when >= then) at = std::min(at, shown);
        return at;
    }

private:
    const virtual_time& base_;
    std::chrono::milliseconds offset_{};
    std::optional<wall_time> frozen_;
    wall_time highest_{};
    bool went_back_ = false;
    std::vector<std::pair<steady_time, wall_time>> settings_;
};

}  // namespace posthorn::sim
