#include "webhook/webhook_feature.hpp"

#include <array>

#include "base/async/bell.hpp"
#include "base/text/counted.hpp"
#include "feature/node_builder.hpp"
#include "message/event.hpp"
#include "webhook/attempt_log.hpp"
#include "webhook/configured_subscribers.hpp"
#include "webhook/failing_watch.hpp"
#include "webhook/fan_out.hpp"
#include "webhook/routes/endpoint_routes.hpp"
#include "webhook/routes/portal_routes.hpp"
#include "webhook/subscription_table.hpp"
#include "webhook/webhook_routes.hpp"
#include "webhook/webhook_settings.hpp"
#include "webhook/webhook_transport.hpp"

namespace posthorn {
namespace {

using std::chrono::milliseconds;
using place = feature_option::place;

constexpr std::array list_columns{feature_column{"ID", "id"},
                                  feature_column{"STATE", "state"},
                                  feature_column{"EVENTS", "eventType"},
                                  feature_column{"TENANT", "tenant"},
                                  feature_column{"URL", "url"},
                                  feature_column{"REASON", "reason"}};
constexpr std::array delivery_columns{
    feature_column{"AT", "at"},           feature_column{"STATE", "state"},
    feature_column{"ATTEMPT", "attempt"}, feature_column{"HTTP", "httpStatus"},
    feature_column{"MS", "tookMs"},       feature_column{"EVENT", "messageId"},
    feature_column{"ERROR", "error"}};
constexpr feature_option which{.name = "id", .doc = "its id, from the list", .where = place::path};
constexpr std::array which_options{which};
constexpr feature_option url_option{.name = "url",
                                    .doc = "where requests go: https://host/path",
                                    .where = place::body,
                                    .word = "to"};
constexpr feature_option type_option{
    .name = "eventType", .doc = "order.paid, order.* or *", .where = place::body, .word = "type"};
constexpr feature_option style_option{
    .name = "style", .doc = "signatures: standard, outbox or both", .where = place::body};
constexpr feature_option form_option{
    .name = "form", .doc = "bodies: envelope, raw or thin", .where = place::body};
constexpr feature_option retries_option{.name = "maxRetries",
                                        .doc = "how often a delivery is tried again",
                                        .where = place::body,
                                        .number = true,
                                        .word = "max-retries"};
constexpr feature_option timeout_option{.name = "timeoutSeconds",
                                        .doc = "how long a request may take",
                                        .where = place::body,
                                        .number = true,
                                        .word = "timeout-seconds"};
constexpr feature_option headers_option{
    .name = "headers", .doc = "more headers, as a JSON object", .where = place::body};
constexpr feature_option filter_option{
    .name = "filter", .doc = R"(which events: {"/data/country": ["DE"]})", .where = place::body};
constexpr feature_option text_option{
    .name = "description", .doc = "for people", .where = place::body};
constexpr feature_option secret_option{
    .name = "secret", .doc = "a secret of theirs; a new one unless given", .where = place::body};
constexpr std::array add_options{
    url_option,
    type_option,
    feature_option{
        .name = "tenant", .doc = "whose events; those of all unless given", .where = place::body},
    secret_option,
    style_option,
    form_option,
    retries_option,
    timeout_option,
    headers_option,
    filter_option,
    text_option};
constexpr std::array edit_options{which,         url_option,     type_option,    style_option,
                                  form_option,   retries_option, timeout_option, headers_option,
                                  filter_option, text_option};
constexpr std::array rotate_options{which, secret_option};
constexpr std::array delivery_options{
    which, feature_option{
               .name = "limit", .doc = "how many, at most 1000; 50 unless given", .number = true}};

constexpr std::array token_options{
    feature_option{.name = "tenant", .doc = "whose endpoints", .where = place::body},
    feature_option{.name = "rights", .doc = "read, or read,write", .where = place::body},
    feature_option{.name = "forSeconds",
                   .doc = "how long, at most a day; 3600 unless given",
                   .where = place::body,
                   .number = true,
                   .word = "for-seconds"}};

constexpr feature_command turn(std::string_view name, std::string_view summary,
                               std::string_view path, std::string_view example) {
    return {.name = name,
            .summary = summary,
            .method = "POST",
            .path = path,
            .options = which_options,
            .example = example};
}

constexpr std::array commands_of_it{
    feature_command{.name = "list",
                    .summary = "list subscriptions",
                    .method = "GET",
                    .path = "/_rf/webhooks",
                    .list = "subscriptions",
                    .columns = list_columns,
                    .example = "posthorn webhooks list"},
    feature_command{.name = "add",
                    .summary = "add a subscription; its secret is shown this once",
                    .method = "POST",
                    .path = "/_rf/webhooks",
                    .options = add_options,
                    .example = "posthorn webhooks add --to https://shop.example/hook --type "
                               "'order.*'"},
    feature_command{.name = "show",
                    .summary = "show one",
                    .method = "GET",
                    .path = "/_rf/webhooks/{id}",
                    .options = which_options,
                    .example = "posthorn webhooks show 0199a0b1-0000-7000-8000-000000000003"},
    feature_command{.name = "edit",
                    .summary = "change what is named, and leave the rest",
                    .method = "POST",
                    .path = "/_rf/webhooks/{id}/edit",
                    .options = edit_options,
                    .example = "posthorn webhooks edit 0199a0b1-0000-7000-8000-000000000003 "
                               "--to https://shop.example/new"},
    turn("pause", "let its events wait", "/_rf/webhooks/{id}/pause",
         "posthorn webhooks pause 0199a0b1-0000-7000-8000-000000000003"),
    turn("resume", "send what has waited, and go on", "/_rf/webhooks/{id}/resume",
         "posthorn webhooks resume 0199a0b1-0000-7000-8000-000000000003"),
    turn("disable", "let events pass it by", "/_rf/webhooks/{id}/disable",
         "posthorn webhooks disable 0199a0b1-0000-7000-8000-000000000003"),
    turn("enable", "tell it of events again", "/_rf/webhooks/{id}/enable",
         "posthorn webhooks enable 0199a0b1-0000-7000-8000-000000000003"),
    feature_command{.name = "rotate",
                    .summary = "give it a new secret; the one before signs too, for a day",
                    .method = "POST",
                    .path = "/_rf/webhooks/{id}/rotate",
                    .options = rotate_options,
                    .example = "posthorn webhooks rotate 0199a0b1-0000-7000-8000-000000000003"},
    turn("test", "send a test now, and show what came back", "/_rf/webhooks/{id}/test",
         "posthorn webhooks test 0199a0b1-0000-7000-8000-000000000003"),
    turn("recover", "try deliveries again that were given up", "/_rf/webhooks/{id}/recover",
         "posthorn webhooks recover 0199a0b1-0000-7000-8000-000000000003"),
    turn("remove", "remove it; deliveries that wait are given up", "/_rf/webhooks/{id}/remove",
         "posthorn webhooks remove 0199a0b1-0000-7000-8000-000000000003"),
    feature_command{.name = "portal-token",
                    .summary = "make a token with which a subscriber reaches their own endpoints",
                    .method = "POST",
                    .path = "/_rf/webhooks/portal-tokens",
                    .options = token_options,
                    .example = "posthorn webhooks portal-token --tenant acme --rights read,write "
                               "--for-seconds 3600"},
    feature_command{.name = "deliveries",
                    .summary = "list attempts, the newest first",
                    .method = "GET",
                    .path = "/_rf/webhooks/{id}/deliveries",
                    .options = delivery_options,
                    .list = "deliveries",
                    .columns = delivery_columns,
                    .example = "posthorn webhooks deliveries 0199a0b1-0000-7000-8000-000000000003"},
};

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
    webhook_ways(fan_out& events, webhook_transport& subscribers, subscription_index& among,
                 std::shared_ptr<const retry_policy> retries)
        : events_(events), subscribers_(subscribers), among_(among), retries_(std::move(retries)) {}

    transport* find(std::string_view destination) override {
        if (destination == events_destination) return &events_;
        return subscription_of(destination) ? &subscribers_ : nullptr;
    }

    [[nodiscard]] std::optional<route_limits> limits(std::string_view destination) const override {
        if (destination == events_destination) return route_limits{.window = 2};
        const auto id = subscription_of(destination);
        if (!id) return std::nullopt;
        const auto one = among_.now()->find(*id);
        // Beyond the request's own limit, so that its answer tells what was late.
        const milliseconds timeout =
            (one ? one->of.timeout : std::chrono::seconds{30}) + std::chrono::seconds{5};
        return route_limits{.window = 4,
                            .batch = 1,
                            .timeout = timeout,
                            .retries = retries_,
                            .probe_pause_max = std::chrono::minutes{15},
                            .failures_shut = true};
    }

private:
    fan_out& events_;
    webhook_transport& subscribers_;
    subscription_index& among_;
    std::shared_ptr<const retry_policy> retries_;
};

/// Rings when another process has committed: it may have changed a subscription.
struct foreign_change final : commit_listener {
    bell noticed;

    void committed(std::span<const outbox_row> /*enqueued*/) override {}
    void foreign_commit() override { noticed.ring(); }
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
                   const fan_out_counters& events, const webhook_counters& sent) {
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
    text.counter("posthorn_webhook_disabled_total",
                 "Subscriptions that were disabled by what their endpoints answered.",
                 sent.disabled);
}

class webhooks final : public feature {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "webhooks"; }
    [[nodiscard]] table_set tables() const noexcept override { return webhook_tables(); }
    [[nodiscard]] std::span<const feature_key> keys() const noexcept override {
        return webhook_keys();
    }
    [[nodiscard]] std::string_view summary() const noexcept override {
        return "manage who is told of events, and look at deliveries";
    }
    [[nodiscard]] std::span<const feature_command> commands() const noexcept override {
        return commands_of_it;
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
        POSTHORN_LET(tokens, read_portal(said));
        const bool plain_http = how.client.rules.plain_http;
        const auto& env = into.env();
        const auto& box = into.make<std::optional<secret_box>>(std::move(key));
        const secret_box* const sealing = box ? &*box : nullptr;
        POSTHORN_LET(configured, read_configured_subscribers(
                                     said.get<feature_tables>("subscribers"), plain_http));
        auto& among =
            into.make<subscription_index>(into.database(), env, sealing, std::move(configured));
        const bool runs = !into.outbox().empty();
        webhook_client* client = nullptr;
        if (runs) {
            auto& sends = into.run(std::make_unique<webhook_client>(env, std::move(how)));
            client = &sends;
            add_ways(into, among, sends, std::move(retries), rules);
        }
        const auto& desk = into.make<webhook_desk>(
            webhook_desk{.where = into.database(),
                         .env = env,
                         .subscriptions = among,
                         .box = sealing,
                         .client = client,
                         .plain_http = plain_http,
                         .overlap = said.get<milliseconds>("secret_overlap")});
        auto& portal = into.make<webhook_portal>(webhook_portal{
            .desk = desk, .routes = webhook_routes(desk), .tokens = std::move(tokens)});
        for (auto& each : endpoint_routes(desk)) portal.routes.push_back(std::move(each));
        for (const auto& each : portal.routes) into.add(each);
        into.add(portal_token_route(portal));
        for (auto& each : portal_routes(portal)) into.add(std::move(each));
        return {};
    }

private:
    static void add_ways(node_builder& into, subscription_index& among, webhook_client& client,
                         std::shared_ptr<const retry_policy> retries, const failing_rules& rules) {
        const auto& said = into.settings();
        const auto& env = into.env();
        auto& events = into.make<fan_out_counters>();
        auto& sent = into.make<webhook_counters>();
        const auto& alerts = into.make<alert_desk>(into.maker(), read_alerts(said));
        auto& failing = into.run(std::make_unique<failing_watch>(
            failing_watch::deps{into.database(), env, among, alerts}, rules));
        auto& attempts = into.run(std::make_unique<attempt_log>(
            attempt_log::deps{into.database(), env, among, alerts, failing},
            attempt_log::options{.kept = said.get<milliseconds>("attempts_kept")}));
        auto& change = into.make<foreign_change>();
        into.listen(change);
        into.run(std::make_unique<subscription_watch>(among, env, change.noticed));
        auto& fan =
            into.make<fan_out>(fan_out::deps{env, into.database(), into.maker(), among, events},
                               fan_out::options{.life = said.get<milliseconds>("life")});
        auto& subscribers = into.make<webhook_transport>(
            webhook_transport::deps{env, into.database(), among, client, attempts, sent});
        into.route(into.make<webhook_ways>(fan, subscribers, among, std::move(retries)));
        into.health([&among] { return worries(*among.now()); });
        into.health([&failing] { return failing.worries(); });
        into.metrics([&among, &events, &sent, &failing](prometheus_text& text) {
            write_metrics(text, *among.now(), events, sent);
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
