#include "webhook/routes/endpoint_routes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <boost/json/array.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "store/async.hpp"
#include "webhook/attempt_page.hpp"
#include "webhook/fan_out.hpp"
#include "webhook/routes/endpoint_health.hpp"
#include "webhook/routes/route_kit.hpp"
#include "webhook/routes/webhook_shapes.hpp"
#include "webhook/subscription_json.hpp"
#include "webhook/webhook_ids.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using target = subscription_set::target;

constexpr std::int64_t page_max = 1000;

/// An endpoint in the list, before it is known whether the page reaches it.
struct judged_endpoint {
    target of;
    endpoint_health health{};
    std::int64_t dead = 0;
};

/// What is read of one that is shown.
struct endpoint_look {
    recent_attempts lately{};
    endpoint_traffic traffic{};
};

result<endpoint_look> look_at_endpoint(store_reader& from, const waiting_deliveries& waiting,
                                       const uuid& id, wall_time now) {
    POSTHORN_LET(lately, read_recent_attempts(from, id));
    POSTHORN_LET(traffic, read_traffic(from, waiting, id, now));
    return endpoint_look{.lately = lately, .traffic = traffic};
}

/// With as many digits as a rate is worth.
double rounded(double rate) { return std::round(rate * 100) / 100; }

struct endpoint_query {
    std::optional<endpoint_health> state{};
    std::optional<std::string> tenant{};
    std::string text{};
    std::int64_t limit = 100;
};

result<endpoint_query> read_endpoint_query(std::string_view query) {
    constexpr std::array<std::string_view, 4> known{"state", "tenant", "text", "limit"};
    POSTHORN_LET(asked, read_query_fields(query, known));
    endpoint_query made;
    if (const auto state = asked.find("state"); state != asked.end()) {
        made.state = parse_endpoint_health(state->second);
        if (!made.state)
            return fail(error_code::invalid_argument,
                        "'{}' is not a state; there are failing, disabled, paused, delivering and "
                        "quiet",
                        clean_utf8(state->second, 100));
    }
    if (const auto tenant = asked.find("tenant"); tenant != asked.end())
        made.tenant = tenant->second;
    if (const auto text = asked.find("text"); text != asked.end()) made.text = text->second;
    POSTHORN_LET(limit, number_in(asked, {"limit", page_max, made.limit}));
    made.limit = limit;
    return made;
}

bool fits(const endpoint_query& asked, const subscription& one) {
    if (asked.tenant && one.tenant != *asked.tenant) return false;
    return asked.text.empty() || one.url.contains(asked.text) ||
           one.description.contains(asked.text) || one.event_type.contains(asked.text) ||
           one.id.to_string() == asked.text;
}

json::object to_json(const judged_endpoint& one, const endpoint_look& look) {
    const auto& [lately, traffic] = look;
    auto shown = to_json(one.of->of);
    if (!one.of->trouble.empty()) shown["trouble"] = one.of->trouble;
    shown["health"] = to_string(one.health);
    shown["delivered"] = lately.delivered;
    shown["failed"] = lately.failed;
    shown["dead"] = one.dead;
    shown["waiting"] = traffic.waiting.value;
    if (traffic.waiting.at_least) shown["waitingAtLeast"] = true;
    if (traffic.oldest) shown["oldestWaitingSince"] = to_iso8601(*traffic.oldest);
    shown["deliveredPerMinute"] = rounded(traffic.delivered_per_minute);
    shown["failedPerMinute"] = rounded(traffic.failed_per_minute);
    if (lately.last_at) shown["lastAttemptAt"] = to_iso8601(*lately.last_at);
    if (lately.last_status) shown["lastHttpStatus"] = *lately.last_status;
    return shown;
}

json::object to_json(const listed_attempt& one) {
    auto shown = to_json(one.body);
    shown["seq"] = one.seq;
    if (!one.event_type.empty()) shown["eventType"] = clean_utf8(one.event_type, 256);
    return shown;
}

/// Those that fit, what needs a person first.
result<json::object> look_at_endpoints(store_reader& from, const subscription_set& all,
                                       const endpoint_query& asked, wall_time now) {
    POSTHORN_LET(last, read_last_attempts(from));
    POSTHORN_LET(dead, read_dead_deliveries(from));
    POSTHORN_LET(waiting, read_waiting_deliveries(from, now));
    std::vector<judged_endpoint> fitting;
    std::map<endpoint_health, std::int64_t> states;
    for (const auto& each : all.all()) {
        if (!fits(asked, each->of)) continue;
        const auto tried = last.find(each->of.id);
        judged_endpoint one{.of = each,
                            .health = judge_endpoint(
                                each->of.state, each->trouble,
                                tried == last.end() ? std::nullopt : std::optional(tried->second))};
        ++states[one.health];
        if (const auto found = dead.by_subscription.find(each->of.id);
            found != dead.by_subscription.end())
            one.dead = found->second;
        if (!asked.state || *asked.state == one.health) fitting.push_back(std::move(one));
    }
    const auto rank = [](const judged_endpoint& one) {
        return std::tuple(one.health, -one.dead, one.of->of.created_at, one.of->of.id);
    };
    std::ranges::sort(fitting, std::less{}, rank);
    json::array shown;
    for (const auto& each : fitting) {
        if (std::ssize(shown) == asked.limit) break;
        POSTHORN_LET(look, look_at_endpoint(from, waiting, each.of->of.id, now));
        shown.push_back(to_json(each, look));
    }
    json::object counts;
    for (const auto& [health, number] : states) counts[to_string(health)] = number;
    return json::object{{"endpoints", std::move(shown)},
                        {"fitting", fitting.size()},
                        {"states", std::move(counts)},
                        {"deadAtLeast", dead.at_least}};
}

task<http_response> list_endpoints(const webhook_desk& with, http_request request,
                                   admin_caller /*who*/) {
    const auto asked = read_endpoint_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    const auto all = co_await with.subscriptions.refresh();
    if (!all) co_return answer_to_error(all.error());
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(page, look_at_endpoints(from, **all, *asked, with.env.clock.wall()));
            shown = std::move(page);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with(shown);
}

/// The subscription that a path names, or the refusal.
task<std::expected<target, http_response>> find_target(const webhook_desk& with,
                                                       const http_request& request) {
    const auto id = subscription_in(request);
    if (!id) co_return std::unexpected(answer_to_error(id.error()));
    const auto all = co_await with.subscriptions.refresh();
    if (!all) co_return std::unexpected(answer_to_error(all.error()));
    auto found = (*all)->find(*id);
    if (!found) co_return std::unexpected(answer_to_error(no_such_subscription(*id, **all)));
    co_return found;
}

task<http_response> show_endpoint(const webhook_desk& with, http_request request,
                                  admin_caller /*who*/) {
    const auto of = co_await find_target(with, request);
    if (!of) co_return of.error();
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            const auto& id = (*of)->of.id;
            const auto now = with.env.clock.wall();
            POSTHORN_LET(waiting, read_waiting_deliveries(from, now));
            POSTHORN_LET(look, look_at_endpoint(from, waiting, id, now));
            POSTHORN_LET(dead, count_dead_deliveries(from, id));
            POSTHORN_LET(types, read_seen_types(from, id));
            shown = to_json({.of = *of,
                             .health = judge_endpoint((*of)->of.state, (*of)->trouble,
                                                      look.lately.last_was_taken),
                             .dead = dead},
                            look);
            json::array seen;
            for (const auto& each : types)
                seen.push_back(json::object{{"eventType", clean_utf8(each.type, 256)},
                                            {"attempts", each.attempts},
                                            {"lastAt", to_iso8601(each.last_at)}});
            shown["types"] = std::move(seen);
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with(shown);
}

task<http_response> list_attempts(const webhook_desk& with, http_request request,
                                  admin_caller /*who*/) {
    const auto id = subscription_in(request);
    if (!id) co_return answer_to_error(id.error());
    constexpr std::array<std::string_view, 3> known{"limit", "before", "failed"};
    const auto fields = read_query_fields(request.query, known);
    if (!fields) co_return answer_to_error(fields.error());
    const auto limit = number_in(*fields, {"limit", page_max, 50});
    if (!limit) co_return answer_to_error(limit.error());
    const auto before = number_in(*fields, {"before", std::numeric_limits<std::int64_t>::max(), 0});
    if (!before) co_return answer_to_error(before.error());
    attempt_query asked{.subscription = *id, .limit = *limit};
    if (*before != 0) asked.before = *before;
    const auto failed = fields->find("failed");
    asked.failed_only = failed != fields->end() && failed->second == "true";
    json::array shown;
    json::value next;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(page, read_attempts(from, asked));
            for (const auto& each : page) shown.push_back(to_json(each));
            if (std::ssize(page) == asked.limit) next = page.back().seq;
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with({{"deliveries", std::move(shown)}, {"next", std::move(next)}});
}

/// What an attempt sent; nothing once the event is gone. An edited delivery has a payload of its
/// own.
result<std::optional<webhook_event>> find_event(store_reader& from, const webhook_attempt& of) {
    POSTHORN_LET(child, from.outbox().find(child_id(of.event, of.subscription)));
    if (child && !child->body.payload.empty()) {
        auto own = event_of(child->body);
        own.id = of.event;
        return std::optional(std::move(own));
    }
    POSTHORN_LET(parent, from.outbox().find(of.event));
    if (!parent) return std::optional<webhook_event>{};
    return std::optional(event_of(parent->body));
}

// Requests are not kept. What was sent follows from the event and the subscription; a signature
// that was made with another secret, or for another body, would be a lie.
json::object request_of(const webhook_event& event, const webhook_target& to,
                        const webhook_attempt& of) {
    const bool changed = to.of.updated_at && *to.of.updated_at > of.at;
    const auto sent = make_webhook_request(event, to, of.number, of.at);
    auto headers = headers_to_json(sent.headers);
    for (const auto& [name, value] : headers_to_json(sent.custom)) headers[name] = value;
    if (changed)
        for (const std::string_view name : {"webhook-signature", "X-Outbox-Signature"})
            headers.erase(name);
    return {{"request", json::object{{"url", sent.url},
                                     {"headers", headers},
                                     {"body", clean_utf8(sent.body, sent.body.size())}}},
            {"changedSince", changed}};
}

task<http_response> show_attempt(const webhook_desk& with, http_request request, admin_caller who) {
    const auto seq = number_in({{"seq", request.parameters.at("seq")}},
                               {"seq", std::numeric_limits<std::int64_t>::max(), 0});
    if (!seq) co_return answer_to_error(seq.error());
    constexpr std::array<std::string_view, 1> known{"payload"};
    const auto fields = read_query_fields(request.query, known);
    if (!fields) co_return answer_to_error(fields.error());
    const auto asked = fields->find("payload");
    const bool payload = asked != fields->end() && asked->second == "true";
    if (payload && !who.rights.payloads)
        co_return answer_to_error({error_code::access_denied,
                                   "reading payloads needs a key with that right: payloads = true "
                                   "beside it in admin.keys"});
    const auto to = co_await find_target(with, request);
    if (!to) co_return to.error();
    json::object shown;
    const auto done =
        co_await read(with.where, with.env.readers, [&](store_reader& from) -> result<> {
            POSTHORN_LET(found, find_attempt(from, (*to)->of.id, *seq));
            if (!found)
                return fail(error_code::not_found, "there is no attempt {} of this subscription",
                            *seq);
            shown = to_json(*found);
            if (!payload || !(*to)->trouble.empty()) return {};
            POSTHORN_LET(event, find_event(from, found->body));
            if (event)
                for (auto& [name, value] : request_of(*event, **to, found->body))
                    shown[name] = value;
            return {};
        });
    if (!done) co_return answer_to_error(done.error());
    co_return answer_with(shown);
}

constexpr std::array endpoint_shapes{
    webhook_shapes[0], webhook_shapes[1],
    named_shape{"Endpoint",
                "{...Subscription, health: EndpointHealth, delivered: integer, failed: integer,"
                " dead: integer, waiting: integer, waitingAtLeast?: boolean,"
                " oldestWaitingSince?: time, deliveredPerMinute: number, failedPerMinute: number,"
                " lastAttemptAt?: time, lastHttpStatus?: integer}"}};

}  // namespace

std::vector<admin_route> endpoint_routes(const webhook_desk& with) {
    using work = task<http_response> (*)(const webhook_desk&, http_request, admin_caller);
    const auto route = [&with](std::string path, const route_doc& doc, work answer) {
        return admin_route{"GET", std::move(path), admin_role::viewer, doc,
                           [&with, answer](http_request request, admin_caller who) {
                               return answer(with, std::move(request), std::move(who));
                           }};
    };
    const std::string one = "/_rf/webhooks/{id}";
    return {
        route("/_rf/webhooks/endpoints",
              {.summary = "Subscriptions by how their endpoints do, those that fail first.",
               .answer = "{endpoints: [Endpoint], fitting: integer, deadAtLeast: boolean,"
                         " states: {failing?: integer, disabled?: integer, paused?: integer,"
                         " delivering?: integer, quiet?: integer}}",
               .query = "{state?: EndpointHealth, tenant?: string, text?: string,"
                        " limit?: integer}",
               .shapes = endpoint_shapes},
              &list_endpoints),
        route(one + "/health",
              {.summary = "One subscription, how its endpoint does, and types of events it was "
                          "sent lately.",
               .answer = "{...Endpoint, types: [{eventType: string, attempts: integer,"
                         " lastAt: time}]}",
               .shapes = endpoint_shapes},
              &show_endpoint),
        route(one + "/deliveries",
              {.summary = "Attempts to deliver to it, the newest first.",
               .answer = "{deliveries: [WebhookAttempt], next: integer | null}",
               .query = "{limit?: integer, before?: integer, failed?: boolean}",
               .shapes = webhook_shapes},
              &list_attempts),
        route(one + "/deliveries/{seq}",
              {.summary = "One attempt; with payload=true what was sent, as the event and the "
                          "subscription tell it.",
               .answer = "{...WebhookAttempt, request?: WebhookRequest, changedSince?: boolean}",
               .query = "{payload?: boolean}",
               .shapes = webhook_shapes},
              &show_attempt),
    };
}

}  // namespace posthorn
