#include "workflow/runner/batch_blame.hpp"

#include <ranges>
#include <utility>

#include "base/assert.hpp"
#include "base/planted.hpp"

namespace posthorn {

batch_blame::batch_blame(std::span<const std::uint64_t> keys) {
    if (!keys.empty()) groups_.emplace_back(keys.begin(), keys.end());
}

std::span<const std::uint64_t> batch_blame::next() const noexcept {
    return groups_.empty() ? std::span<const std::uint64_t>() : std::span(groups_.front());
}

void batch_blame::answered() {
    POSTHORN_ASSERT(!groups_.empty());
    groups_.pop_front();
}

void batch_blame::fell() {
    POSTHORN_ASSERT(!groups_.empty());
    const auto group = std::move(groups_.front());
    groups_.pop_front();
    ++falls_;
    for (const auto key : group | std::views::reverse) {
        const bool is_again = ++falls_of_[key] == falls_max || POSTHORN_PLANTED(neighbours_blamed);
        if (is_again)
            at_fault_.push_back(key);
        else
            groups_.push_front({key});
    }
}

}  // namespace posthorn
