#include "admin/metrics.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/build_info.hpp"
#include "base/text/utf8.hpp"
#include "feature/prometheus_text.hpp"

namespace posthorn {
namespace {

constexpr double us_per_ms = 1000;
constexpr std::size_t label_characters_max = 128;

double number(const bounded_count& counted) { return static_cast<double>(counted.value); }

std::uint64_t sum(const metrics_facts& facts,
                  std::atomic<std::uint64_t> outbox_counters::* counter) {
    std::uint64_t all = 0;
    for (const auto* one : facts.counters) all += (one->*counter).load(std::memory_order_relaxed);
    return all;
}

histogram_view sum(const metrics_facts& facts, histogram outbox_counters::* of,
                   std::span<const std::uint64_t> bounds) {
    auto all = histogram(bounds).view();
    for (const auto* one : facts.counters) {
        const auto seen = (one->*of).view();
        for (std::size_t i = 0; i < all.counts.size(); ++i) all.counts[i] += seen.counts[i];
        all.sum += seen.sum;
    }
    return all;
}

// The names of the messaging document, whatever Prometheus' own habits are.
void add_documented(prometheus_text& text, const metrics_facts& facts) {
    if (facts.store_read) {
        text.gauge("rf_outbox_pending_count", "Messages waiting to be sent.",
                   number(facts.outbox.pending));
        text.gauge("rf_outbox_failed_count", "Messages that exceeded their retries.",
                   number(facts.outbox.dead));
        text.gauge("rf_outbox_expired_count", "Messages that expired before delivery.",
                   number(facts.outbox.expired));
        text.gauge("rf_inbox_size", "Rows in the inbox.", number(facts.inbox_size));
    }
    text.begin("rf_outbox_send_duration_ms", "histogram", "Time on the wire of each attempt.");
    text.samples(sum(facts, &outbox_counters::send_us, duration_bounds_us), us_per_ms);
    text.begin("rf_outbox_retry_count", "histogram", "Retries of each message that was finished.");
    text.samples(sum(facts, &outbox_counters::retries, retry_bounds), 1);
    const auto inbox = facts.inbox != nullptr ? facts.inbox->counts() : inbox_counts{};
    text.counter("rf_inbox_duplicate_count", "Duplicates detected since the start.",
                 inbox.duplicates);
    text.begin("rf_inbox_process_duration_ms", "histogram",
               "Time from the arrival of a message to its answer.");
    text.samples(facts.inbox != nullptr ? facts.inbox->durations_us().view()
                                        : histogram(duration_bounds_us).view(),
                 us_per_ms);
}

void add_counters(prometheus_text& text, const metrics_facts& facts) {
    struct row {
        std::string_view name;
        std::string_view help;
        std::atomic<std::uint64_t> outbox_counters::* counter;
    };
    for (const auto& [name, help, counter] :
         {row{"posthorn_outbox_sent_total", "Messages delivered.", &outbox_counters::sent},
          row{"posthorn_outbox_retried_total", "Attempts that will be repeated.",
              &outbox_counters::retried},
          row{"posthorn_outbox_throttled_total", "Attempts that the receiver put off.",
              &outbox_counters::throttled},
          row{"posthorn_outbox_dead_total", "Messages given up.", &outbox_counters::dead},
          row{"posthorn_outbox_expired_total", "Messages that expired.", &outbox_counters::expired},
          row{"posthorn_outbox_undeliverable_total", "Attempts that found no route or no handler.",
              &outbox_counters::undeliverable},
          row{"posthorn_outbox_spared_total",
              "Attempts that counted against no message, since no one there answers.",
              &outbox_counters::spared},
          row{"posthorn_outbox_overflowed_total", "Messages that took the cold path instead.",
              &outbox_counters::overflowed},
          row{"posthorn_outbox_sweeps_total", "Searches for due messages.",
              &outbox_counters::sweeps}})
        text.counter(name, help, sum(facts, counter));
    text.counter("posthorn_outbox_batches_total", "Batches of due messages that were found.",
                 sum(facts, &outbox_counters::batches));
    text.begin("posthorn_outbox_batch_messages", "histogram", "Messages in each of them.");
    text.samples(sum(facts, &outbox_counters::batch_rows, batch_bounds), 1);
    text.begin("posthorn_outbox_batch_duration_ms", "histogram",
               "Time from looking for due messages to handing them over, of empty batches too.");
    text.samples(sum(facts, &outbox_counters::batch_us, duration_bounds_us), us_per_ms);
    settle_report settling;
    for (const auto* one : facts.counters) {
        const auto seen = one->settling.report();
        settling.failures += seen.failures;
        settling.unrecorded += seen.unrecorded;
    }
    text.counter("posthorn_outbox_settle_failures_total",
                 "Times that outcomes of messages could not be recorded.", settling.failures);
    text.gauge("posthorn_outbox_unrecorded",
               "Messages whose outcome could not be recorded and is tried again.",
               static_cast<double>(settling.unrecorded));
    text.gauge("posthorn_outbox_lanes", "Destinations being served.",
               static_cast<double>(sum(facts, &outbox_counters::lanes)));

    const auto inbox = facts.inbox != nullptr ? facts.inbox->counts() : inbox_counts{};
    text.counter("posthorn_inbox_processed_total", "Messages that took effect.", inbox.processed);
    text.counter("posthorn_inbox_failed_total", "Messages whose handler or commit failed.",
                 inbox.failed);
    text.counter("posthorn_inbox_conflicts_total", "Known ids that came with another body.",
                 inbox.conflicts);
    text.counter("posthorn_inbox_refused_total", "Messages without a handler or past their time.",
                 inbox.refused);
    text.counter("posthorn_bad_signatures_total", "Requests whose signature did not hold.",
                 facts.bad_signatures);
    text.counter("posthorn_admin_refusals_total", "Requests refused on the admin listener.",
                 facts.refusals);
}

/// By the names that labels have; those that look alike are one.
counts_of_destinations::by_name destinations_of(const metrics_facts& facts) {
    counts_of_destinations::by_name all;
    for (const auto* const one : facts.counters)
        for (const auto& [name, counted] : one->destinations.view()) {
            const auto label = clean_utf8(name, label_characters_max);
            const bool fits = all.contains(label) || all.size() <= metric_destinations_max;
            all[fits ? label : std::string(counts_of_destinations::other)] += counted;
        }
    return all;
}

void add_destinations(prometheus_text& text, const metrics_facts& facts) {
    struct row {
        std::string_view name;
        std::string_view help;
        std::uint64_t destination_counts::* counter;
    };
    const auto all = destinations_of(facts);
    if (all.empty()) return;
    for (const auto& [name, help, counter] :
         {row{"posthorn_outbox_destination_sent_total", "Messages delivered, by destination.",
              &destination_counts::sent},
          row{"posthorn_outbox_destination_retried_total",
              "Attempts that will be repeated, by destination.", &destination_counts::retried},
          row{"posthorn_outbox_destination_dead_total", "Messages given up, by destination.",
              &destination_counts::dead},
          row{"posthorn_outbox_destination_expired_total", "Messages that expired, by destination.",
              &destination_counts::expired}}) {
        text.begin(name, "counter", help);
        for (const auto& [destination, counted] : all)
            text.sample(static_cast<double>(counted.*counter), {{"destination", destination}});
    }
}

void add_backlog(prometheus_text& text, const metrics_facts& facts) {
    const auto& outbox = facts.outbox;
    text.gauge("posthorn_outbox_undeliverable", "Messages waiting for a route or a handler.",
               number(outbox.undeliverable));
    text.gauge("posthorn_outbox_blocked_messages",
               "Messages waiting behind one of their order key that was given up.",
               number(waiting_in(outbox.blocked)));
    text.gauge("posthorn_outbox_backlog_age_seconds", "Age of the oldest message that waits.",
               static_cast<double>(outbox.oldest_age.count()) / 1000);
    text.begin("posthorn_outbox_destination_pending", "gauge", "Messages waiting, by destination.");
    auto rest = outbox.pending.value;
    std::set<std::string> named{"other"};  // A label comes once, whatever the destinations are.
    for (const auto& one : outbox.backlog) {
        const auto name = clean_utf8(one.destination, label_characters_max);
        if (named.size() > metric_destinations_max || !named.insert(name).second) continue;
        rest -= one.pending.value;
        text.sample(number(one.pending), {{"destination", name}});
    }
    // A queue that is empty again is a zero in a chart, not a gap.
    for (const auto& [name, counted] : destinations_of(facts))
        if (named.size() <= metric_destinations_max && named.insert(name).second)
            text.sample(0, {{"destination", name}});
    // Also where there are none, so that the metric never goes missing.
    text.sample(static_cast<double>(std::max<std::int64_t>(rest, 0)), {{"destination", "other"}});
}

/// Of the worse of two databases, so that one alarm is enough.
void add_backups(prometheus_text& text, const std::vector<sqlite::backup_state>& backups) {
    if (backups.empty()) return;
    sqlite::backup_state all = backups.front();
    for (const auto& one : std::span(backups).subspan(1)) {
        all.made += one.made;
        all.failed += one.failed;
        all.newest = std::min(all.newest, one.newest);  // None is the least.
        all.took = std::max(all.took, one.took);
        all.bytes += one.bytes;
    }
    text.counter("posthorn_backups_total", "Backups made and verified.", all.made);
    text.counter("posthorn_backup_failures_total", "Backups that failed.", all.failed);
    const auto newest = all.newest.value_or(wall_time{}).time_since_epoch();
    text.gauge("posthorn_backup_newest_timestamp_seconds",
               "When the newest backup was taken; zero if there is none.",
               static_cast<double>(newest.count()) / 1000);
    text.gauge("posthorn_backup_duration_seconds", "How long the last one took.",
               static_cast<double>(all.took.count()) / 1000);
    text.gauge("posthorn_backup_bytes", "Size of the newest.", static_cast<double>(all.bytes));
}

// Of two databases, that of the disk with less room.
void add_disk(prometheus_text& text, const metrics_facts& facts) {
    disk_report worst;
    std::uint64_t refused = 0;
    bool first = true;
    for (const auto& one : facts.disks) {
        refused += one.refused;
        if (std::exchange(first, false) || one.state > worst.state ||
            (one.free && worst.free && *one.free < *worst.free))
            worst = one;
    }
    if (worst.free)
        text.gauge("posthorn_disk_free_bytes", "Room on the disk of the database.",
                   static_cast<double>(*worst.free));
    text.gauge("posthorn_disk_low_water_bytes", "With less room no new messages are taken.",
               static_cast<double>(worst.limits.low_water));
    text.begin("posthorn_disk_state", "gauge", "One at the present state.");
    for (const auto each :
         {disk_state::enough, disk_state::scarce, disk_state::low, disk_state::full})
        text.sample(worst.state == each ? 1 : 0, {{"state", to_string(each)}});
    text.gauge("posthorn_disk_ballast", "Whether the ballast file is there.",
               worst.has_ballast ? 1 : 0);
    text.counter("posthorn_disk_refused_total", "Messages refused for want of room.", refused);
}

}  // namespace

std::string render_metrics(const metrics_facts& facts) {
    prometheus_text text;
    add_documented(text, facts);
    add_counters(text, facts);
    add_destinations(text, facts);
    add_lanes(text, facts);
    if (facts.store_read) add_backlog(text, facts);
    add_backups(text, facts.backups);
    add_disk(text, facts);
    text.begin("posthorn_health", "gauge", "One at the present colour.");
    for (const auto each : {health_level::green, health_level::yellow, health_level::red})
        text.sample(facts.health.status == each ? 1 : 0, {{"status", to_string(each)}});
    text.gauge("posthorn_working", "Whether the node can send and receive.",
               facts.health.working ? 1 : 0);
    text.gauge("posthorn_clock_timestamp_seconds", "What time it is by the node's clock.",
               static_cast<double>(facts.now.time_since_epoch().count()) / 1000);
    text.gauge("posthorn_store_durable", "Zero where the store is in memory, for a test.",
               facts.durable ? 1 : 0);
    text.gauge("posthorn_build_info", "How this node was built.", 1,
               {{"service", facts.service},
                {"version", facts.version},
                {"compiler", this_build().compiler}});
    return text.take();
}

namespace {

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
