#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace posthorn::chaos {

/// How often each thing happened.
///
/// Threads: any.
class tally {
public:
    void add(const std::string& what, std::uint64_t by = 1) {
        const std::scoped_lock lock(mutex_);
        counts_[what] += by;
    }
    [[nodiscard]] std::map<std::string, std::uint64_t> all() const {
        const std::scoped_lock lock(mutex_);
        return counts_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::uint64_t> counts_;
};

}  // namespace posthorn::chaos
