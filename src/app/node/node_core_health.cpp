// What a node says of itself.
#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/node/node_core.hpp"
#include "operations/intake_health.hpp"

namespace posthorn {

std::vector<std::string> node_core::broken() const {
    for (auto* const each : databases())
        if (each->store().has_failed())
            return {"the store has stopped, because a commit is in doubt; restart"};
    for (auto* const each : databases())
        if (each->is_stuck())
            return {"a handler or transaction is stuck, and others may wait for it"};
    return {};
}

std::vector<std::string> node_core::not_working() const {
    auto all = broken();
    for (auto* const each : databases())
        std::ranges::move(judge_database(each->signs()).broken, std::back_inserter(all));
    return all;
}

std::vector<health_worry> node_core::worries() const {
    std::vector<health_worry> all;
    if (dispatcher().clock_jumped())
        all.push_back({health_level::yellow,
                       "the clock has jumped; no message expires until it was steady for an hour"});
    const auto disk = std::max(disk_of(store()), disk_of(inbox_store()),
                               [](const auto& a, const auto& b) { return a.state < b.state; });
    if (auto text = describe(disk); !text.empty())
        all.push_back(
            {may_grow(disk.state) ? health_level::yellow : health_level::red, std::move(text)});
    for (auto* const each : databases())
        std::ranges::move(judge_database(each->signs()).worries, std::back_inserter(all));
    for (const auto& each : backups())
        if (!each.last_error.empty())
            all.push_back(
                {health_level::yellow, fmt::format("the last backup failed: {}", each.last_error)});
    if (const auto* const receiving = inbox_.get()) {
        const auto since = seams_.env.clock.wall() - failure_remembered;
        std::ranges::move(judge_intake(receiving->failures().list(since), {}),
                          std::back_inserter(all));
    }
    for (const auto& told : features_.health)
        for (auto& each : told()) all.push_back(std::move(each));
    return all;
}

node_health node_core::health() const {
    node_health seen{.reasons = not_working(), .durable = options_.durable};
    if (!seen.reasons.empty()) seen.level = health_level::red;
    for (auto& [level, text] : worries()) {
        seen.level = std::max(seen.level, level);
        seen.reasons.push_back(std::move(text));
    }
    return seen;
}

}  // namespace posthorn
