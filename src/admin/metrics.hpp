#pragma once

#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "inbox/inbox.hpp"
#include "operations/health.hpp"
#include "operations/operations.hpp"
#include "outbox/lane/outbox_counters.hpp"
#include "store/sqlite/upkeep/backup_keeper.hpp"

namespace posthorn {

/// Everything that `/metrics` tells, as found at one moment.
struct metrics_facts {
    std::string service{};
    std::string version{};
    health_verdict health{};
    outbox_overview outbox{};
    bounded_count inbox_size{};
    bool store_read = true;  // Otherwise the overview and the size say nothing and are left out.
    /// One for each database of the node.
    std::vector<const outbox_counters*> counters{};
    std::vector<lane_report> lanes{};
    const class inbox* inbox = nullptr;           // Null before the node has started.
    std::vector<sqlite::backup_state> backups{};  // Of each database that is backed up.
    std::vector<disk_report> disks{};             // One for each database.
    wall_time now{};
    std::uint64_t bad_signatures = 0;
    std::uint64_t refusals = 0;  // On the admin listener.
    bool durable = true;         // False where the store is in memory.
};

/// Destinations named in labels; the rest share the label `other`.
inline constexpr std::size_t metric_destinations_max = 100;

class prometheus_text;
/// The part of it that tells of lanes.
void add_lanes(prometheus_text& text, const metrics_facts& facts);

/// In Prometheus' text format. Pure.
[[nodiscard]] std::string render_metrics(const metrics_facts& facts);

}  // namespace posthorn
