#include "outbox/hand_over.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace posthorn {

void hand_over::open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
}

void hand_over::close() {
    const std::scoped_lock lock(mutex_);
    open_ = false;
    overflowed_ = false;
    rows_.clear();
}

std::size_t hand_over::push(std::vector<outbox_row> rows) {
    std::size_t dropped = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (!open_ || rows.empty()) return 0;
        const auto fits = std::min(rows.size(), rows_max_ - rows_.size());
        dropped = rows.size() - fits;
        rows.resize(fits);
        if (rows_.empty())
            rows_ = std::move(rows);
        else
            std::ranges::move(rows, std::back_inserter(rows_));
        if (dropped > 0) overflowed_ = true;
    }
    arrivals_.ring();
    return dropped;
}

hand_over::taken hand_over::take() {
    const std::scoped_lock lock(mutex_);
    return {std::exchange(rows_, {}), std::exchange(overflowed_, false)};
}

}  // namespace posthorn
