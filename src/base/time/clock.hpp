#pragma once

#include <chrono>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// A point of a time line that never goes back; says nothing about the time of day.
using steady_time = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// What time it is: half of the time seam, whose other half is `timer`.
///
/// Lifetime: outlives everything that was built with it.
/// Threads:  any.
class clock {
public:
    virtual ~clock() = default;

    /// For what people and other machines see; may jump in either direction.
    [[nodiscard]] virtual wall_time wall() const = 0;
    /// For measuring and waiting.
    [[nodiscard]] virtual steady_time steady() const = 0;
};

/// The machine's clocks.
class real_clock final : public clock {
public:
    [[nodiscard]] wall_time wall() const override;
    [[nodiscard]] steady_time steady() const override;
};

}  // namespace posthorn
