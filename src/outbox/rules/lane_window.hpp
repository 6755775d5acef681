#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace posthorn {

/// How many batches a lane may have in flight.
///
/// | a batch                                         | those in flight from then on                |
/// |-------------------------------------------------|---------------------------------------------|
/// | failed, was put off or got no answer            | half as many, though no fewer than at first |
/// | took effect quickly, and all that may be, were  | one more once as many did as there may be   |
/// | anything else                                   | as many                                     |
///
/// So one that is quick gets more at a time, and one that gets into trouble gets fewer at once. A
/// window whose most is what it begins with stays as it is.
///
/// Pure. Threads: one at a time.
class lane_window {
public:
    struct limits {
        std::size_t first = 1;
        std::size_t max = 1;
    };
    struct seen {
        bool took_effect = true;
        std::chrono::nanoseconds took{};
        std::size_t in_flight = 0;  // With this one.
    };
    static constexpr std::chrono::milliseconds quick{250};

    explicit lane_window(limits of) { change(of); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    void change(limits of) {
        limits_ = {std::max<std::size_t>(of.first, 1),
                   std::max<std::size_t>({of.first, of.max, 1})};
        size_ = std::clamp(size_, limits_.first, limits_.max);
    }
    void note(const seen& one) {
        if (!one.took_effect) {
            size_ = std::max(size_ / 2, limits_.first);
            good_ = 0;
        } else if (one.took < quick && one.in_flight >= size_ && ++good_ >= size_) {
            size_ = std::min(size_ + 1, limits_.max);
            good_ = 0;
        }
    }

private:
    limits limits_{};
    std::size_t size_ = 0;
    std::size_t good_ = 0;  // Since it last changed.
};

}  // namespace posthorn
