#include "outbox/dispatch/hand_over.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace posthorn {

void hand_over::open(std::int64_t claims) {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    claims_ = claims;
}

void hand_over::close() {
    const std::scoped_lock lock(mutex_);
    open_ = false;
    claims_ = 0;
    overflowed_ = false;
    rows_.clear();
    bytes_ = 0;
    expected_.reset();
}

void hand_over::expect(const outbox_row& row) {
    {
        const std::scoped_lock lock(mutex_);
        if (!open_ || !rows_.empty() || row.claim != claims_) return;
        try {
            expected_ = row;
        } catch (const std::bad_alloc&) {  // It will come all the same.
            return;
        }
    }
    arrivals_.ring();
}

std::size_t hand_over::push(std::vector<outbox_row> rows) {
    std::size_t dropped = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (!open_ || rows.empty()) return 0;
        expected_.reset();
        const auto came = rows.size();
        if (claims_ != 0)  // Another dispatcher may have those by now.
            std::erase_if(rows, [this](const outbox_row& row) {
                return row.claim != claims_ && !row.body.deliver_at;
            });
        const auto fits = fitting(rows);
        dropped = came - fits;
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

// One goes in whatever its size.
std::size_t hand_over::fitting(const std::vector<outbox_row>& rows) {
    std::size_t count = 0;
    for (const auto& row : rows) {
        if (rows_.size() + count >= most_.rows) break;
        if (bytes_ >= most_.bytes) break;
        bytes_ += bytes_of(row);
        ++count;
    }
    return count;
}

// Half of it is kept for the group that is asked for.
std::int64_t hand_over::claims_as() {
    const std::scoped_lock lock(mutex_);
    return open_ && rows_.size() <= most_.rows / 2 ? claims_ : 0;
}

hand_over::taken hand_over::take() {
    const std::scoped_lock lock(mutex_);
    bytes_ = 0;
    return {std::exchange(rows_, {}), std::exchange(overflowed_, false),
            std::exchange(expected_, {})};
}

}  // namespace posthorn
