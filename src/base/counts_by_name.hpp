#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace posthorn {

/// Counts under names that strangers choose, so that only so many are told apart; the rest counts
/// as `other`.
///
/// Threads: any.
template <class Counts>
class counts_by_name {
public:
    static constexpr std::size_t names_max = 100;
    static constexpr std::string_view other = "other";

    using by_name = std::map<std::string, Counts, std::less<>>;

    void add(std::string_view name, const Counts& more) {
        const std::lock_guard held(mutex_);
        const bool is_known = seen_.contains(name);
        seen_[std::string(is_known || seen_.size() < names_max ? name : other)] += more;
    }
    [[nodiscard]] by_name view() const {
        const std::lock_guard held(mutex_);
        return seen_;
    }

private:
    mutable std::mutex mutex_;
    by_name seen_;
};

}  // namespace posthorn
