#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/assert.hpp"
#include "outbox/rules/byte_budget.hpp"

namespace posthorn {

/// Which rows of a destination are in memory: queued, in flight, or settled but not yet on disk;
/// and how many bytes each has, which its update on disk will move once more.
///
/// A sweep reads the table a moment before it hands rows over; what left memory in between is still
/// known until `end_read`, so that an old picture of it is not taken for new work.
/// Threads: the dispatcher's strand.
class held_rows {
public:
    /// `all` counts the bytes of every lane, and outlives this.
    explicit held_rows(byte_budget& all) : all_(all) {}
    ~held_rows() { all_.remove(bytes_); }
    held_rows(const held_rows&) = delete;
    held_rows& operator=(const held_rows&) = delete;

    /// False if it is held already, or was when the open read began.
    bool add(std::int64_t seq, std::size_t bytes = 0) {
        if (left_.contains(seq) || !held_.emplace(seq, bytes).second) return false;
        bytes_ += bytes;
        all_.add(bytes);
        return true;
    }
    void remove(std::int64_t seq) {
        const auto place = held_.find(seq);
        if (place == held_.end()) return;
        bytes_ -= place->second;
        all_.remove(place->second);
        held_.erase(place);
        if (is_read()) left_.insert(seq);
    }
    [[nodiscard]] bool knows(std::int64_t seq) const {
        return held_.contains(seq) || left_.contains(seq);
    }
    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t bytes_of(std::int64_t seq) const {
        const auto place = held_.find(seq);
        return place == held_.end() ? 0 : place->second;
    }
    /// In order.
    [[nodiscard]] std::vector<std::int64_t> list() const {
        std::vector<std::int64_t> seqs;
        seqs.reserve(held_.size());
        for (const auto& [seq, bytes] : held_) seqs.push_back(seq);
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
    byte_budget& all_;
    std::unordered_map<std::int64_t, std::size_t> held_;  // With the bytes of each.
    std::size_t bytes_ = 0;
    std::unordered_set<std::int64_t> left_;  // While a read is open.
    int reads_ = 0;                          // Open ones.
};

}  // namespace posthorn
