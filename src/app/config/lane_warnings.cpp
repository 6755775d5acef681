#include "app/config/lane_warnings.hpp"

namespace posthorn {
namespace {

constexpr std::chrono::milliseconds message_time_min{10};

tight_lane lane_of(const config& settings, std::string destination, const route_setting& route) {
    const auto& out = settings.outbox;
    return {.destination = std::move(destination),
            .window = route.window.value_or(out.window),
            .batch = route.batch.value_or(out.batch_size),
            .timeout = route.timeout.value_or(out.attempt_timeout)};
}

}  // namespace

std::vector<tight_lane> find_tight_lanes(const config& settings) {
    std::vector<tight_lane> all{
        lane_of(settings, "default", settings.default_route.value_or(route_setting{}))};
    for (const auto& [destination, route] : settings.routes)
        all.push_back(lane_of(settings, destination, route));
    std::erase_if(all, [](const tight_lane& one) {
        return one.timeout >= message_time_min * (one.window * one.batch);
    });
    return all;
}

}  // namespace posthorn
