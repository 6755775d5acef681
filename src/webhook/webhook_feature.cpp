#include "webhook/webhook_feature.hpp"

#include <array>

#include "base/async/bell.hpp"
#include "base/text/counted.hpp"
#include "base/text/utf8.hpp"
#include "feature/node_builder.hpp"
#include "message/event.hpp"
#include "webhook/attempt_log.hpp"
#include "webhook/catalogue/known_events.hpp"
#include "webhook/counts/published_count.hpp"
#include "webhook/counts/type_metrics.hpp"
#include "webhook/failing/failing_watch.hpp"
#include "webhook/fan_out.hpp"
#include "webhook/routes/endpoint_routes.hpp"
#include "webhook/routes/event_routes.hpp"
#include "webhook/routes/hidden_headers.hpp"
#include "webhook/routes/portal_page.hpp"
#include "webhook/routes/portal_routes.hpp"
#include "webhook/routes/recover_routes.hpp"
#include "webhook/routes/type_routes.hpp"
#include "webhook/routes/webhook_commands.hpp"
#include "webhook/subscription_table.hpp"
#include "webhook/webhook_routes.hpp"
#include "webhook/webhook_settings.hpp"
#include "webhook/webhook_transport.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;

/// Of the columns below: subscriptions, those disabled, those whose secret lies in the clear.
feature_finding judge_subscriptions(std::span<const std::int64_t> seen, wall_time /*now*/) {
    const auto all = counted(seen[0], "subscription");
    if (seen[2] > 0)
        return {.is_well = false,
                .what = fmt::format("{} of {} {} a secret in the clear", seen[2], all,
                                    seen[2] == 1 ? "has" : "have"),
                .why = "who can read the database can sign in your name",
                .todo = "set webhooks.key, then 'posthorn webhooks rotate' each of them"};
    if (seen[1] > 0)
        return {
            .is_well = false,
            .what = fmt::format("{} of {} {} disabled", seen[1], all, seen[1] == 1 ? "is" : "are"),
            .why = "events pass them by",
            .todo = "see 'posthorn webhooks list' for the reasons, then enable or remove them"};
    return {.what = seen[0] == 0 ? "no subscription" : all};
}

constexpr std::array checks_of_it{feature_check{
    .name = "webhooks",
    .sql = "SELECT (SELECT count(*) FROM {s}.webhook_subscriptions),"
           " (SELECT count(*) FROM {s}.webhook_subscriptions WHERE state = 'disabled'),"
           " (SELECT count(*) FROM {s}.webhook_subscriptions WHERE secret NOT LIKE 'sealed%')",
    .judge = &judge_subscriptions}};

/// The ways to the events' fan-out and to subscribers.
class webhook_ways final : public route_source {
public:
    webhook_ways(transport& events, webhook_transport& subscribers, subscription_index& among,
                 std::shared_ptr<const retry_policy> retries, const webhook_pace& pace)
        : events_(events),
          subscribers_(subscribers),
          among_(among),
          retries_(std::move(retries)),
          pace_(pace) {}

    transport* find(std::string_view destination) override {
        if (destination == events_destination) return &events_;
        return subscription_of(destination) ? &subscribers_ : nullptr;
    }

    [[nodiscard]] std::optional<route_limits> limits(std::string_view destination) const override {
        if (destination == events_destination)
            return route_limits{.window = static_cast<std::size_t>(pace_.batches),
                                .batch = static_cast<std::size_t>(pace_.batch)};
        const auto id = subscription_of(destination);
        if (!id) return std::nullopt;
        const auto one = among_.now()->find(*id);
        // Beyond the request's own limit, so that its answer tells what was late.
        const milliseconds timeout =
            (one ? one->of.timeout : std::chrono::seconds{30}) + std::chrono::seconds{5};
        return route_limits{.window = static_cast<std::size_t>(
                                pace_.endpoint_requests),  // At first; its lane lets it grow.
                            .batch = 1,
                            .timeout = timeout,
                            .retries = retries_,
                            .probe_pause_max = std::chrono::minutes{15},
                            .failures_shut = true};
    }

private:
    transport& events_;
    webhook_transport& subscribers_;
    subscription_index& among_;
    std::shared_ptr<const retry_policy> retries_;
    webhook_pace pace_;
};

void warn_of_wide_fan_out(logger& log, const webhook_pace& pace) {
    if (!pace.is_wide()) return;
    log.warn(
        "Webhooks: {Batches} batches of {Events} events at {Requests} requests an endpoint are a "
        "fan-out of {Count}, 200 or more: one slow endpoint holds up many; lower webhooks.batch or "
        "webhooks.endpoint_requests",
        {{"Batches", pace.batches},
         {"Events", pace.batch},
         {"Requests", pace.endpoint_requests},
         {"Count", pace.fan_out()}});
}

/// Rings when another process has committed: it may have changed a subscription.
struct foreign_change final : commit_listener {
    explicit foreign_change(subscription_index& of) : known(of) {}

    subscription_index& known;
    bell noticed;

    void committed(std::span<const outbox_row> /*enqueued*/) override {}
    void foreign_commit() override {
        known.doubt();
        noticed.ring();
    }
};

/// Knows the subscriptions from the start, and sees what others change while nothing is sent.
class subscription_watch final : public node_service {
public:
    subscription_watch(subscription_index& of, const environment& env, bell& changed)
        : of_(of), env_(env), changed_(changed) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "webhook watch"; }
    task<> run() override {
        do {
            static_cast<void>(co_await of_.recent());
            if (!co_await env_.timer.sleep_for(std::chrono::seconds{1})) co_return;
        } while (co_await changed_.wait());
    }

private:
    subscription_index& of_;
    const environment& env_;
    bell& changed_;
};

std::vector<health_worry> worries(const subscription_set& all) {
    std::size_t troubled = 0;
    std::string why;
    for (const auto& each : all.all()) {
        if (each->trouble.empty() || each->of.state == subscription_state::disabled) continue;
        if (troubled++ == 0) why = each->trouble;
    }
    if (troubled == 0) return {};
    return {{.what = fmt::format("{} cannot be sent to: {}",
                                 counted(static_cast<std::int64_t>(troubled), "webhook"), why)}};
}

void write_metrics(prometheus_text& text, const subscription_set& all,
                   const fan_out_counters& events, const webhook_counters& sent,
                   const type_counts::by_type& by_type) {
    std::array<std::size_t, 3> states{};
    for (const auto& each : all.all()) ++states[static_cast<std::size_t>(each->of.state)];
    text.begin("posthorn_webhook_subscriptions", "gauge", "Subscriptions by state.");
    for (const auto state :
         {subscription_state::active, subscription_state::paused, subscription_state::disabled})
        text.sample(static_cast<double>(states[static_cast<std::size_t>(state)]),
                    {{"state", to_string(state)}});
    text.counter("posthorn_webhook_events_total", "Events that were fanned out.", events.events);
    text.counter("posthorn_webhook_events_unheard_total", "Of these, with no subscription.",
                 events.unheard);
    text.counter("posthorn_webhook_deliveries_total", "Deliveries that were made of events.",
                 events.deliveries);
    text.counter("posthorn_webhook_delivered_total", "Attempts that an endpoint took.",
                 sent.delivered);
    text.counter("posthorn_webhook_failed_total", "Attempts that failed.", sent.failed);
    write_types(text, by_type);
    text.begin("posthorn_webhook_duration_seconds", "histogram", "How long attempts took.");
    text.samples(sent.took_us.view(), 1e6);
    text.counter("posthorn_webhook_disabled_total",
                 "Subscriptions that were disabled by what their endpoints answered.",
                 sent.disabled);
}

constexpr std::array webhook_odd{
    odd_rows{.table = "webhook_event_types",
             .where = "octet_length(schema) > 65536 OR octet_length(example) > 65536",
             .why = "they have a schema or an example of more than 64 KiB, which is not shown",
             .todo = "shorten it in webhook_event_types"},
    odd_rows{.table = "webhook_subscriptions",
             .where = "lower(id) IN (SELECT lower(id) FROM {s}.webhook_subscriptions"
                      " GROUP BY lower(id) HAVING count(*) > 1)",
             .why = "they have the id of another in other letters, so only one of them is told of "
                    "events",
             .todo = "give each an id of its own in webhook_subscriptions"}};

class webhooks final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "webhooks"; }
    [[nodiscard]] table_set tables() const noexcept override { return webhook_tables(); }
    [[nodiscard]] std::span<const odd_rows> odd() const noexcept override { return webhook_odd; }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return webhook_keys();
    }
    [[nodiscard]] std::vector<feature_problem> problems(
        const feature_settings& said, const message_limits& limits) const override {
        return check_webhook_settings(said, limits);
    }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "manage who is told of events, and look at deliveries";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return webhook_commands();
    }
    [[nodiscard]] std::span<const feature_check> checks() const noexcept override {
        return checks_of_it;
    }

    result<> install(node_builder& into) const override {
        const auto& said = into.settings();
        POSTHORN_LET(how, read_client_options(said));
        POSTHORN_LET(retries, read_retries(said));
        POSTHORN_LET(key, read_webhook_key(said));
        POSTHORN_LET(rules, read_failing_rules(said));
        POSTHORN_LET(alerts, read_alerts(said, into.maker().defaults().limits));
        POSTHORN_LET(tokens, read_portal(said));
        POSTHORN_LET(embedders, read_embedders(said));
        POSTHORN_LET(retries_max, read_retries_max(said));
        POSTHORN_LET(secrets_of_tenants, read_tenant_secrets(said));
        POSTHORN_LET(pace, read_pace(said));
        POSTHORN_LET(metrics, read_metric_names(said));
        const bool plain_http = how.client.rules.plain_http;
        const auto& env = into.env();
        const auto& box = into.make<std::optional<secret_box>>(std::move(key));
        const secret_box* const sealing = box ? &*box : nullptr;
        POSTHORN_LET(configured, read_subscribers(said));
        auto& among =
            into.make<subscription_index>(into.database(), env, sealing, std::move(configured));
        auto& secrets =
            into.make<tenant_secrets>(env.clock, env.workers, std::move(secrets_of_tenants));
        into.show(into.make<webhook_program>(
            among, secrets,
            webhook_program::options{.claims = read_claim_types(said), .plain_http = plain_http}));
        const bool runs = !into.outbox().empty();
        webhook_sender* client = runs ? into.find<webhook_sender>() : nullptr;
        if (runs) {
            if (client == nullptr)
                client = &into.run(std::make_unique<webhook_client>(env, std::move(how)));
            add_ways(into, among, *client,
                     {.retries = std::move(retries),
                      .failing = rules,
                      .alerts = alerts,
                      .retries_max = retries_max,
                      .secrets = secrets,
                      .pace = pace,
                      .metrics = metrics});
        }
        const auto& desk = into.make<webhook_desk>(
            webhook_desk{.where = into.database(),
                         .env = env,
                         .subscriptions = among,
                         .box = sealing,
                         .client = client,
                         .secrets = secrets,
                         .source = into.maker().defaults().source,
                         .plain_http = plain_http,
                         .strict = said.get<bool>("strict"),
                         .life = said.get<milliseconds>("life"),
                         .retries_max = retries_max,
                         .overlap = said.get<milliseconds>("secret_overlap")});
        auto& portal = into.make<webhook_portal>(webhook_portal{
            .desk = desk, .routes = webhook_routes(desk), .tokens = std::move(tokens)});
        for (auto& each : endpoint_routes(desk)) portal.routes.push_back(std::move(each));
        for (auto& each : portal.routes) each = hiding_headers(std::move(each));
        for (auto& each : recover_routes(desk)) portal.routes.push_back(std::move(each));
        for (auto& each : type_routes(desk)) portal.routes.push_back(std::move(each));
        for (const auto& each : portal.routes) into.add(each);
        for (auto& each : event_routes(desk)) into.add(std::move(each));
        into.add(portal_token_route(portal));
        for (auto& each : portal_routes(portal)) into.add(std::move(each));
        if (portal.tokens)
            for (auto& each : portal_page_routes(embedders)) into.add(std::move(each));
        return {};
    }

private:
    struct ways {
        std::shared_ptr<const retry_policy> retries;
        failing_rules failing;
        std::string alerts;  // Whom they are sent to.
        std::int32_t retries_max;
        tenant_secrets& secrets;
        webhook_pace pace;
        metric_names metrics;
    };

    static void add_ways(node_builder& into, subscription_index& among, webhook_sender& client,
                         ways how) {
        const auto& said = into.settings();
        const auto& env = into.env();
        warn_of_wide_fan_out(env.log, how.pace);
        auto& events = into.make<fan_out_counters>();
        auto& sent = into.make<webhook_counters>();
        auto& by_type = into.make<type_counts>();
        const auto& alerts = into.make<alert_desk>(into.maker(), env.log, how.alerts);
        auto& failing = into.run(std::make_unique<failing_watch>(
            failing_watch::deps{into.database(), env, among, alerts}, how.failing));
        auto& attempts = into.run(std::make_unique<attempt_log>(
            attempt_log::deps{into.database(), env, among, alerts, failing},
            attempt_log::options{.kept = said.get<milliseconds>("attempts_kept")}));
        auto& change = into.make<foreign_change>(among);
        into.listen(change);
        into.listen(into.make<published_count>(by_type));
        into.run(std::make_unique<subscription_watch>(among, env, change.noticed));
        auto& recent = into.make<event_cache>(std::size_t{16} << 20);
        auto& fan = into.make<fan_out>(
            fan_out::deps{env, into.database(), into.maker(), among, recent, events, by_type},
            fan_out::options{.life = said.get<milliseconds>("life"),
                             .retries_max = how.retries_max});
        transport* events_way = &fan;
        if (said.get<bool>("strict"))
            events_way = &into.make<known_events>(into.database(), env, fan);
        auto& subscribers = into.make<webhook_transport>(webhook_transport::deps{
            env, into.database(), among, client, attempts, recent, sent, by_type, how.secrets});
        into.route(into.make<webhook_ways>(*events_way, subscribers, among, std::move(how.retries),
                                           how.pace));
        // Deliveries tell of their event, which is sent once they are made.
        into.keep_sent([&among, life = said.get<milliseconds>("life")] {
            return among.now()->all().empty() ? milliseconds{} : life + std::chrono::hours{1};
        });
        into.health([&among] { return worries(*among.now()); });
        into.health([&failing] { return failing.worries(); });
        into.metrics([&among, &events, &sent, &by_type, &failing, in_words_of = how.metrics,
                      databases = into.outbox()](prometheus_text& text) {
            const auto counted = by_type.view();
            write_metrics(text, *among.now(), events, sent, counted);
            if (in_words_of == metric_names::outboxnet) write_outboxnet(text, counted, databases);
            text.counter("posthorn_webhook_failing_disabled_total",
                         "Subscriptions that were disabled for doing nothing but fail.",
                         failing.disabled());
        });
    }
};

}  // namespace

const feature& webhook_feature() noexcept {
    static const webhooks one;
    return one;
}

}  // namespace posthorn
