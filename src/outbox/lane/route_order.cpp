#include "outbox/lane/route_order.hpp"

#include <algorithm>
#include <iterator>

namespace posthorn {

bool route_order::has_feature_to(std::string_view destination) const {
    return std::ranges::any_of(
        features_, [&](const auto* each) { return each->limits(destination).has_value(); });
}

transport* route_order::find(std::string_view destination) {
    if (auto* const found = fixed_.find(destination)) return found;
    for (auto* const each : features_)
        if (auto* const found = each->find(destination)) return found;
    return default_.find(destination);
}

route_limits route_order::limits(std::string_view destination) const {
    if (const auto found = fixed_.limits(destination)) return *found;
    for (const auto* const each : features_)
        if (const auto found = each->limits(destination)) return *found;
    return default_.limits(destination).value_or(route_limits{});
}

std::vector<drop_order> route_order::take_drops() {
    std::vector<drop_order> all;
    for (auto* const each : features_)
        std::ranges::move(each->take_drops(), std::back_inserter(all));
    return all;
}

}  // namespace posthorn
