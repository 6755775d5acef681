#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "base/assert.hpp"

namespace posthorn {

/// Which rows of a destination are in memory: queued, in flight, or settled but not yet on disk.
///
/// A sweep reads the table a moment before it hands rows over; what left memory in between is still
/// known until `end_read`, so that an old picture of it is not taken for new work.
/// Threads: the dispatcher's strand.
class held_rows {
public:
    /// False if it is held already, or was when the open read began.
    bool add(std::int64_t seq) { return !left_.contains(seq) && held_.insert(seq).second; }
    void remove(std::int64_t seq) {
        if (held_.erase(seq) != 0 && is_read()) left_.insert(seq);
    }
    [[nodiscard]] bool knows(std::int64_t seq) const {
        return held_.contains(seq) || left_.contains(seq);
    }
    [[nodiscard]] std::size_t size() const { return held_.size(); }
    /// In order.
    [[nodiscard]] std::vector<std::int64_t> list() const {
        std::vector<std::int64_t> seqs(held_.begin(), held_.end());
        std::ranges::sort(seqs);
        return seqs;
    }

    void begin_read() { ++reads_; }
    void end_read() {
        POSTHORN_ASSERT(reads_ > 0);
        if (--reads_ == 0) left_.clear();
    }
    [[nodiscard]] bool is_read() const noexcept { return reads_ > 0; }

private:
    std::unordered_set<std::int64_t> held_;
    std::unordered_set<std::int64_t> left_;  // While a read is open.
    int reads_ = 0;                          // Open ones.
};

}  // namespace posthorn
