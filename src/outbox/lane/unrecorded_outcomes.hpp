#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace posthorn {

/// Messages whose outcome the database refuses to record, each by itself: a trigger of the
/// application raises, say. They stay pending in the table, and what became of them is known to
/// this node alone, which tries again from time to time.
///
/// Threads: any.
class unrecorded_outcomes {
public:
    struct view {
        std::size_t count = 0;
        std::int64_t seq = 0;  // The last one that failed, and why.
        std::string error{};
    };

    void note(std::int64_t seq, std::string error) {
        const std::scoped_lock lock(mutex_);
        seqs_.insert(seq);
        last_ = seq;
        error_ = std::move(error);
    }
    void forget(std::int64_t seq) {
        const std::scoped_lock lock(mutex_);
        seqs_.erase(seq);
    }
    void clear() {
        const std::scoped_lock lock(mutex_);
        seqs_.clear();
    }
    [[nodiscard]] view look() const {
        const std::scoped_lock lock(mutex_);
        if (seqs_.empty()) return {};
        return {.count = seqs_.size(), .seq = last_, .error = error_};
    }

private:
    mutable std::mutex mutex_;
    std::set<std::int64_t> seqs_;
    std::int64_t last_ = 0;
    std::string error_;
};

}  // namespace posthorn
