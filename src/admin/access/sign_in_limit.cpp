#include "admin/access/sign_in_limit.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace posthorn {

void sign_in_limit::forget(steady_time now) {
    while (!recent_.empty() && now - recent_.front().at >= within) recent_.pop_front();
}

std::optional<std::chrono::seconds> sign_in_limit::wait(std::string_view address, steady_time now) {
    forget(now);
    const auto until_forgotten = [&](const failure& one) {
        return std::chrono::ceil<std::chrono::seconds>(one.at + within - now);
    };
    if (recent_.size() >= in_all_max) return until_forgotten(recent_.front());
    const auto is_of_it = [&](const failure& one) { return one.address == address; };
    if (static_cast<std::size_t>(std::ranges::count_if(recent_, is_of_it)) < of_address_max)
        return std::nullopt;
    return until_forgotten(*std::ranges::find_if(recent_, is_of_it));
}

void sign_in_limit::failed(std::string_view address, steady_time now) {
    POSTHORN_ASSERT(recent_.size() < in_all_max);
    recent_.push_back({std::string(address), now});
}

}  // namespace posthorn
