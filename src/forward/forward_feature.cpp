#include "forward/forward_feature.hpp"

#include <algorithm>
#include <array>

#include "feature/node_builder.hpp"
#include "forward/central_requests.hpp"
#include "forward/central_telemetry.hpp"
#include "forward/forward_desk.hpp"
#include "forward/forward_keeper.hpp"
#include "forward/forward_routes.hpp"
#include "forward/forward_tables.hpp"
#include "forward/forward_transport.hpp"
#include "forward/limits/buffer_keeper.hpp"
#include "forward/limits/sample_keeper.hpp"
#include "forward/notification.hpp"
#include "forward/targets/configured_categories.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

constexpr std::array forward_keys{
    feature_key{"site", "the name of this site",
                [] { return feature_value(std::string(unknown_site)); }},
    feature_key{"max_retries", "after so many retries work is parked; 0 is never",
                [] { return feature_value(std::int64_t{50}); }},
    feature_key{"retry_interval", "the pause between two attempts",
                [] { return feature_value(milliseconds(std::chrono::seconds{30})); }},
    feature_key{"tracking_kept", "how long what has ended is tracked",
                [] { return feature_value(milliseconds(std::chrono::days{7})); }},
    feature_key{"categories", "categories whose work goes to a target by configuration alone",
                [] { return feature_value(feature_tables{}); }},
    feature_key{"max_messages", "how many operations may be held; 0 is without a limit",
                [] { return feature_value(std::int64_t{0}); }},
    feature_key{"max_bytes", "how many bytes their payloads may take; 0 is without a limit",
                [] { return feature_value(std::int64_t{0}); }},
    feature_key{"max_age", "what is older is dropped; 0s is without a limit",
                [] { return feature_value(milliseconds{0}); }},
    feature_key{"when_full", "what is done at a cap: reject, drop_oldest or drop_category",
                [] { return feature_value(std::string("reject")); }},
    feature_key{"drop_order", "for drop_category: the categories, the least worth first, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"replay_settle_time", "how long a target answers before its backlog is replayed",
                [] { return feature_value(milliseconds(std::chrono::seconds{5})); }},
    feature_key{"replay_rate", "messages of a backlog a second; 0 is without a limit",
                [] { return feature_value(0.0); }},
    feature_key{"replay_ramp", "how long the rate takes to rise from a tenth",
                [] { return feature_value(milliseconds(std::chrono::seconds{60})); }},
    feature_key{"replay_order", "what of a backlog goes first: oldest or newest",
                [] { return feature_value(std::string("oldest")); }},
    feature_key{"central", "the service that is this site's centre, or none",
                [] { return feature_value(std::string("none")); }},
    feature_key{"central_timeout", "how long the centre may take to acknowledge a notification",
                [] { return feature_value(milliseconds(std::chrono::seconds{30})); }},
    feature_key{"discard_unreadable", "notifications that cannot be read are dropped, not parked",
                [] { return feature_value(false); }},
    feature_key{"first_attempt_wait", "how long a caller waits for the first attempt",
                [] { return feature_value(milliseconds(std::chrono::seconds{30})); }},
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

/// Empty if there is none.
std::string centre_of(const feature_settings& said) {
    const auto& named = said.get<std::string>("central");
    return named == "none" || is_blank(named) ? std::string() : named;
}

result<forward_defaults> read_defaults(const feature_settings& said) {
    const auto retries = said.get<std::int64_t>("max_retries");
    const auto interval = said.get<milliseconds>("retry_interval");
    const auto& site = said.get<std::string>("site");
    if (retries < 0 || retries > 1'000'000)
        return fail(error_code::invalid_configuration,
                    "forward.max_retries is {}; give 1 to 1000000, or 0 for ever", retries);
    if (interval < milliseconds{1})
        return fail(error_code::invalid_configuration,
                    "forward.retry_interval is not longer than nothing; give a time such as "
                    "\"30s\"");
    if (said.get<milliseconds>("tracking_kept") < milliseconds{1})
        return fail(error_code::invalid_configuration,
                    "forward.tracking_kept is not longer than nothing; give a time such as \"7d\"");
    POSTHORN_LET(replay, read_replay(said));
    POSTHORN_LET(caps, read_buffer_rules(said));
    return forward_defaults{.max_retries = static_cast<std::int32_t>(retries),
                            .retry_interval = interval,
                            .site = is_blank(site) ? std::string(unknown_site) : site,
                            .centre = centre_of(said),
                            .wait = said.get<milliseconds>("first_attempt_wait"),
                            .replay = replay,
                            .caps = std::move(caps)};
}

void write_replays(prometheus_text& text, const forward_keeper& keeper) {
    const auto behind = keeper.behind();
    text.begin("posthorn_forward_targets", "gauge", "Targets that are out or have a backlog.");
    for (const auto phase :
         {replay_phase::outage, replay_phase::settling, replay_phase::replaying}) {
        const auto count = std::ranges::count(behind, phase, &target_replay::phase);
        text.sample(static_cast<double>(count), {{"phase", to_string(phase)}});
    }
    text.begin("posthorn_forward_backlog_growing", "gauge",
               "Whether more comes than goes while a backlog is replayed.");
    for (const auto& each : keeper.totals())
        text.sample(keeper.drain_of(each.category).is_alarming ? 1 : 0,
                    {{"category", each.category}});
}

/// What a site does with its centre: notifications go there, and it may ask about parked work.
result<> join_centre(node_builder& into, forward_desk& desk, const peer_calls& peers) {
    const auto& said = into.settings();
    const auto centre = centre_of(said);
    const auto timeout = said.get<milliseconds>("central_timeout");
    if (timeout < milliseconds{1})
        return fail(error_code::invalid_configuration,
                    "forward.central_timeout is not longer than nothing; give a time such as "
                    "\"30s\"");
    if (&into.inbox_database() != &into.database())
        return fail(error_code::invalid_configuration,
                    "forward.central needs inbox and outbox in one database; leave out "
                    "store.inbox_url");
    const auto& office = into.make<central_office>(central_office{centre});
    POSTHORN_TRY(add_central_requests(into.handlers(), office));
    // A handler of the application's own goes before ours.
    into.before_start([&desk, &peers, &log = into.env().log, timeout,
                       how = notification_options{.centre = centre,
                                                  .site = desk.defaults().site,
                                                  .discard_unreadable = said.get<bool>(
                                                      "discard_unreadable")}]() -> result<> {
        if (desk.find("Notification") != nullptr) return {};
        return desk.add("Notification", {.ask = make_notification_forwarder(how, peers, log),
                                         .how = {.tracked = false, .timeout = timeout}});
    });
    return {};
}

void write_metrics(prometheus_text& text, const forward_counters& seen,
                   const std::vector<forward_total>& totals) {
    text.counter("posthorn_forward_delivered_total", "Operations that their target took.",
                 seen.delivered);
    text.counter("posthorn_forward_retried_total", "Attempts that failed and were charged.",
                 seen.retried);
    text.counter("posthorn_forward_parked_total", "Operations that were parked.", seen.parked);
    text.counter("posthorn_forward_refused_total",
                 "Operations that were refused at their first attempt.", seen.refused);
    text.counter("posthorn_forward_late_total", "Attempts that ended after their time was over.",
                 seen.late);
    text.counter("posthorn_forward_unobserved_total", "Attempts whose observer threw.",
                 seen.unobserved);
    text.counter("posthorn_forward_thinned_total",
                 "Samples that were not worth keeping while their target was out.", seen.thinned);
    text.begin("posthorn_forward_dropped_total", "counter",
               "Operations that were dropped to keep within a cap.");
    const auto dropped = seen.drops.dropped();
    for (const auto& each : totals) {
        const auto count = dropped.find(each.category);
        text.sample(count == dropped.end() ? 0 : static_cast<double>(count->second),
                    {{"category", each.category}});
    }
    text.begin("posthorn_forward_waiting", "gauge", "Operations that wait for their target.");
    for (const auto& each : totals)
        text.sample(static_cast<double>(each.waiting), {{"category", each.category}});
    text.begin("posthorn_forward_parked", "gauge", "Operations that are parked.");
    for (const auto& each : totals)
        text.sample(static_cast<double>(each.parked), {{"category", each.category}});
    text.begin("posthorn_forward_bytes", "gauge", "What their payloads take.");
    for (const auto& each : totals)
        text.sample(static_cast<double>(each.bytes), {{"category", each.category}});
    std::int64_t depth = 0;
    for (const auto& each : totals) depth += each.waiting;
    text.gauge("scadabridge_store_and_forward_queue_depth",
               "Operations that wait for their target.", static_cast<double>(depth));
}

constexpr std::array forward_odd{
    odd_rows{.table = "forward_messages",
             .where = "status NOT IN (0, 2)",
             .why = "they have a status that is neither 0 (waits) nor 2 (parked): they are neither "
                    "counted nor listed by category",
             .todo =
                 "set forward_messages.status to 0, or to 2 where the message of the same seq in "
                 "outbox_messages is Dead"},
    odd_rows{
        .table = "forward_messages",
        .where = "length(id) <> 36",
        .why = "their id is not a UUID, so they can be neither shown nor retried nor discarded by "
               "it",
        .todo = "set forward_messages.id to the message_id of the same seq in outbox_messages"},
    odd_rows{.table = "forward_messages",
             .where = "seq < 1",
             .why = "they have a number below 1, where lists begin: they are not listed",
             .todo = "delete them from forward_messages; no message has such a number"},
    odd_rows{.table = "OperationTracking",
             .where = "length(TrackedOperationId) <> 36",
             .why = "their TrackedOperationId is not a UUID, so they cannot be asked for",
             .todo = "delete them from OperationTracking"}};

class store_and_forward final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "forward"; }
    [[nodiscard]] table_set tables() const noexcept override { return forward_tables(); }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return forward_odd; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return forward_keys;
    }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "look at what is held for targets, and retry or discard what is parked";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return forward_commands();
    }

    result<> install(node_builder& into) const override {
        POSTHORN_LET(defaults, read_defaults(into.settings()));
        POSTHORN_LET(categories, read_categories(into.settings()));
        const auto& env = into.env();
        const bool runs = !into.outbox().empty();
        auto& desk = into.make<forward_desk>(
            forward_desk::deps{into.database(), env.clock, env.random, env.log},
            std::move(defaults));
        const auto centre = centre_of(into.settings());
        const auto* const telemetry = centre.empty()
                                          ? nullptr
                                          : &into.make<central_telemetry>(central_telemetry::deps{
                                                centre, desk.defaults().site, into.maker()});
        auto& office = into.make<forward_office>(
            forward_office{.where = into.database(), .env = env, .relay = into.find<site_relay>()});
        for (auto& each : forward_routes(office)) into.add(std::move(each));
        if (!runs) return {};
        const auto& peers = into.make<peer_calls>(into.ways(), into.maker());
        const target_means means{into.web(), peers, into.open_outside(), env.workers};
        for (auto& each : categories) {
            auto name = each.name;
            const auto how = each.how;
            POSTHORN_LET(ask, make_target_asker(std::move(each), means));
            POSTHORN_TRY(desk.add(std::move(name), {.ask = std::move(ask), .how = how}));
        }
        auto& counters = into.make<forward_counters>();
        auto& brings = into.make<forward_transport>(
            forward_transport::deps{env, desk, into.maker(), counters, telemetry});
        auto& drops = into.make<drop_box>();
        into.route(into.make<forward_ways>(brings, desk, drops));
        const auto& buffer = into.run(std::make_unique<buffer_keeper>(
            buffer_keeper::deps{into.database(), env, desk, counters, drops}));
        into.run(std::make_unique<sample_keeper>(
            sample_keeper::deps{into.database(), env, desk, counters, drops, into.outbox()}));
        const auto& keeper = into.run(std::make_unique<forward_keeper>(
            forward_keeper::deps{into.database(), env, desk, into.outbox(), telemetry},
            into.settings().get<milliseconds>("tracking_kept")));
        office.keeper = &keeper;
        if (telemetry != nullptr) POSTHORN_TRY(join_centre(into, desk, peers));
        into.show(desk);
        into.before_start([&desk] { return desk.prepare(); });
        into.health([&keeper] { return keeper.worries(); });
        into.health([&buffer] { return buffer.worries(); });
        into.metrics([&keeper, &counters](prometheus_text& text) {
            write_metrics(text, counters, keeper.totals());
            write_replays(text, keeper);
        });
        return {};
    }
};

}  // namespace

const feature& forward_feature() noexcept {
    static const store_and_forward one;
    return one;
}

}  // namespace posthorn
