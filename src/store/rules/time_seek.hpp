#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <posthorn/detail/time.hpp>

namespace posthorn {

/// Finds the place in a large table above which every row was made at some time or later, by few
/// looks at it, so that a list of older rows need not pass by millions that are newer.
///
/// Rows stand in the order of their times, but for moments: each has the time at which it was
/// inserted. Others stand beside them: those whose producer wrote another time, and those that were
/// requeued under a new id, which have the time of that. So it looks at places all over the table,
/// from the top down, at a few rows each, and lets the list begin well above the first older one.
///
/// Pure: it says where to look and is told what is there.
class time_seek {
public:
    static constexpr std::int64_t rows_per_look = 16;
    /// So many rows a list passes by without looks.
    static constexpr std::int64_t rows_near = 20'000;

    /// Below `top`, for rows that were made before `until`.
    time_seek(std::int64_t top, wall_time until)
        : high_(std::max<std::int64_t>(top, 0)), until_(until + slack) {
        begin_round();
    }

    [[nodiscard]] bool is_done() const noexcept { return is_done_; }
    /// Where a list may begin: what it asks for lies below.
    [[nodiscard]] std::int64_t end() const noexcept { return high_; }

    /// The first seq to look at, upwards.
    [[nodiscard]] std::int64_t place() const noexcept { return place_; }
    [[nodiscard]] bool is_older(wall_time made) const noexcept { return made < until_; }
    /// Whether one of those seen is older.
    void saw(bool older) noexcept {
        if (older) return end_round(place_);
        place_ -= spacing_;
        if (place_ <= low_) end_round(low_);
    }

private:
    // Clocks of rows and of their neighbours may differ by so much.
    static constexpr std::chrono::minutes slack{1};
    static constexpr std::int64_t looks_per_round = 64;

    void begin_round() noexcept {
        is_done_ = high_ - low_ <= rows_near;
        spacing_ = std::max(rows_near / 2, (high_ - low_) / looks_per_round);
        place_ = high_ - spacing_;
    }
    void end_round(std::int64_t older) noexcept {
        low_ = older;
        high_ -= std::max<std::int64_t>(0, high_ - low_ - 2 * spacing_);
        begin_round();
    }

    bool is_done_ = false;
    std::int64_t low_ = 0;
    std::int64_t high_;
    std::int64_t place_ = 0;
    std::int64_t spacing_ = 0;
    wall_time until_;
};

}  // namespace posthorn
