#include <array>
#include <map>
#include <set>

#include "admin/metrics.hpp"
#include "admin/prometheus_text.hpp"
#include "base/utf8.hpp"

namespace posthorn {
namespace {

constexpr std::size_t label_characters_max = 128;
constexpr std::array modes{lane_mode::running,  lane_mode::paused, lane_mode::throttled,
                           lane_mode::no_route, lane_mode::open,   lane_mode::probing};

}  // namespace

void add_lanes(prometheus_text& text, const metrics_facts& facts) {
    std::map<lane_mode, int> number;
    for (const auto& one : facts.lanes) ++number[one.lane.mode];
    // Every state each time, so that none goes missing.
    text.begin("posthorn_outbox_lanes_in_state", "gauge", "Destinations, by what their lane does.");
    for (const auto mode : modes) text.sample(number[mode], {{"state", to_string(mode)}});

    std::vector<std::pair<std::string, const lane_state*>> named;
    std::set<std::string> names;
    for (const auto& one : facts.lanes) {
        auto name = clean_utf8(one.lane.destination, label_characters_max);
        if (!one.runs || named.size() == metric_destinations_max || !names.insert(name).second)
            continue;
        named.emplace_back(std::move(name), &one.lane);
    }
    if (named.empty()) return;
    text.begin("posthorn_outbox_lane_shut", "gauge", "One if nothing is sent there for now.");
    for (const auto& [name, lane] : named)
        text.sample(lane->mode == lane_mode::running ? 0 : 1, {{"destination", name}});
    text.begin("posthorn_outbox_lane_queued", "gauge", "Messages that wait in memory.");
    for (const auto& [name, lane] : named)
        text.sample(static_cast<double>(lane->queued), {{"destination", name}});
    text.begin("posthorn_outbox_lane_batches_in_flight", "gauge", "Requests that are under way.");
    for (const auto& [name, lane] : named)
        text.sample(static_cast<double>(lane->in_flight), {{"destination", name}});
    text.begin("posthorn_outbox_lane_batch_size", "gauge", "Messages in one request, at present.");
    for (const auto& [name, lane] : named)
        text.sample(static_cast<double>(lane->batch), {{"destination", name}});
}

}  // namespace posthorn
