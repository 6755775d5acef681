#include "forward/drain_watch.hpp"

#include <algorithm>
#include <cmath>

namespace posthorn {
namespace {

constexpr std::chrono::seconds looked_back{60};
constexpr std::chrono::seconds enough_to_tell{10};

}  // namespace

void drain_watch::note(steady_time now, std::int64_t waiting) {
    seen_.push_back({now, waiting});
    while (now - seen_.front().at > looked_back) seen_.pop_front();
}

std::optional<double> drain_watch::drained() const {
    if (seen_.empty()) return std::nullopt;
    const auto& first = seen_.front();
    const auto& last = seen_.back();
    const std::chrono::duration<double> time = last.at - first.at;
    if (time < enough_to_tell) return std::nullopt;
    return static_cast<double>(first.waiting - last.waiting) / time.count();
}

std::optional<std::chrono::seconds> drain_watch::left() const {
    const auto rate = drained();
    if (!rate || *rate <= 0) return std::nullopt;
    const double most = 1e9;
    const auto seconds = std::ceil(static_cast<double>(seen_.back().waiting) / *rate);
    return std::chrono::seconds(static_cast<std::int64_t>(std::min(seconds, most)));
}

}  // namespace posthorn
