#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time/clock.hpp"

namespace posthorn {

/// How long work on very many rows is cut up, so that messages hardly notice it.
struct slice_options {
    std::chrono::nanoseconds time_target = std::chrono::milliseconds{5};
    std::chrono::nanoseconds time_max = std::chrono::milliseconds{7};  // Then it stops where it is.
    std::size_t rows_first = 100;
    std::size_t rows_max = 10'000;
    /// After a slice the others have the writer for so many times its length.
    int rest_factor = 9;
};

/// What came of one slice.
struct slice_seen {
    std::size_t rows_asked = 0;
    std::size_t rows_done = 0;
    std::chrono::nanoseconds held{};  // How long it kept the writer.
};

/// How many rows the next slice takes: what would have fitted the target, at most twice as many as
/// this time. Pure.
[[nodiscard]] std::size_t next_slice_rows(const slice_seen& seen, const slice_options& options);

/// How long to leave the writer to others. Pure.
[[nodiscard]] std::chrono::nanoseconds rest_after(std::chrono::nanoseconds held,
                                                  const slice_options& options);

/// The bounds of one slice, as the work inside the unit sees them.
///
/// Rows differ in size by a factor of thousands, so the number of rows alone does not bound the
/// time: the work asks after each row.
class slice {
public:
    slice(const clock& time, std::size_t rows, std::chrono::nanoseconds time_max)
        : time_(time), begun_(time.steady()), rows_(rows), time_max_(time_max) {}

    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::chrono::nanoseconds held() const { return time_.steady() - begun_; }
    [[nodiscard]] bool is_over() const { return held() >= time_max_; }

private:
    const clock& time_;
    steady_time begun_;
    std::size_t rows_;
    std::chrono::nanoseconds time_max_;
};

}  // namespace posthorn
