#include "admin/admin_api.hpp"

#include <utility>

#include <boost/json/serialize.hpp>

#include <posthorn/version.hpp>

#include "admin/dead_routes.hpp"
#include "admin/inbox_routes.hpp"
#include "admin/json_answer.hpp"
#include "admin/lane_routes.hpp"
#include "admin/link_routes.hpp"
#include "admin/metrics.hpp"
#include "admin/openapi.hpp"
#include "admin/render.hpp"
#include "admin/replay_routes.hpp"
#include "admin/shapes.hpp"
#include "base/async/run_on.hpp"
#include "operations/dead_operations.hpp"
#include "operations/inbox_detail.hpp"
#include "operations/query.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

/// The routes' handlers over one node.
class endpoints {
public:
    endpoints(node_view& node, admin_gate& gate) : node_(node), gate_(gate) {}

    task<http_response> health();
    task<http_response> metrics();
    task<http_response> outbox_stats();
    task<http_response> messages(http_request request, std::optional<outbox_status> only);
    task<http_response> message(http_request request, admin_caller who);
    task<http_response> inbox_refused(http_request request, admin_caller who);
    task<http_response> retry(http_request request);
    task<http_response> inbox_stats();
    task<http_response> inbox_messages(http_request request);
    task<http_response> store_kept();
    task<http_response> keys();

private:
    [[nodiscard]] const node_view_deps& parts() const { return node_.parts(); }
    [[nodiscard]] inbox_counts received() const {
        const auto* const inbox = parts().inbox ? parts().inbox() : nullptr;
        return inbox != nullptr ? inbox->counts() : inbox_counts{};
    }
    /// Asks the stores one after the other until one knows the message.
    template <class Ask>
    auto in_any_store(const Ask& ask) const;

    node_view& node_;
    admin_gate& gate_;
};

task<http_response> endpoints::health() {
    const auto seen = co_await node_.look();
    const auto verdict = judge_health(seen->facts);
    auto shown = to_json(verdict, seen->facts.outbox);
    shown["service"] = parts().service;
    shown["version"] = parts().version;
    shown["durable"] = parts().durable;
    co_return json_response(verdict.working ? 200 : 503, json::serialize(shown));
}

task<http_response> endpoints::metrics() {
    co_return http_response{200,
                            {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                            co_await node_metrics(node_, gate_.refusals())};
}

task<http_response> endpoints::outbox_stats() {
    const auto seen = co_await node_.look();
    if (!seen->store_read)
        co_return answer_to_error(
            {error_code::store_unavailable, "the store cannot be read; see /_rf/health"});
    auto shown = to_json(seen->facts.outbox, parts().time.wall());
    json::array peers;
    for (const auto* of_database : parts().counters)
        for (const auto& one : of_database->peers.list()) peers.push_back(to_json(one));
    shown["peers"] = std::move(peers);
    shown["durable"] = parts().durable;
    co_return json_response(200, json::serialize(shown));
}

task<http_response> endpoints::messages(http_request request, std::optional<outbox_status> only) {
    const auto asked = parse_list_query(request.query, parts().time.wall());
    if (!asked) co_return answer_to_error(asked.error());
    if (only && asked->status.value_or(*only) != *only)
        co_return answer_to_error({error_code::invalid_argument,
                                   "these are dead ones; ask /_rf/outbox for other states"});
    const auto page = co_await run_on(parts().readers, [&]() -> result<message_list> {
        auto& where = asked->of_inbox ? *parts().stores.back() : *parts().stores.front();
        return list_messages(where, {.status = only ? only : asked->status,
                                     .destination = asked->destination,
                                     .endpoint = asked->endpoint,
                                     .correlation_id = asked->correlation_id,
                                     .causation_id = asked->causation_id,
                                     .tenant = asked->tenant,
                                     .order_key = asked->order_key,
                                     .error = asked->error,
                                     .since = asked->since,
                                     .until = asked->until,
                                     .before_seq = asked->before,
                                     .limit = asked->limit});
    });
    co_return answer_to(page);
}

template <class Ask>
auto endpoints::in_any_store(const Ask& ask) const {
    auto answer = ask(*parts().stores.front());
    for (std::size_t i = 1; i < parts().stores.size(); ++i) {
        if (answer || answer.error().code() != error_code::not_found) break;
        answer = ask(*parts().stores[i]);
    }
    return answer;
}

task<http_response> endpoints::message(http_request request, admin_caller who) {
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    const auto asked = parse_show_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    const bool payload = *asked;
    if (payload && !who.rights.payloads)
        co_return gate_.refuse(request, who,
                               "reading payloads needs a key with that right: payloads = true "
                               "beside it in admin.keys");
    const auto found = co_await run_on(parts().readers, [&] {
        return in_any_store([&](store& where) { return show_message(where, *id, payload); });
    });
    if (!found) co_return answer_to_error(found.error());
    co_return json_response(200, json::serialize(to_json(*found, payload)));
}

task<http_response> endpoints::retry(http_request request) {
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    result<dead_changed> requeued = fail(error_code::not_found, "no store");
    for (auto* const where : parts().stores) {
        requeued = co_await change_dead(
            {.where = *where, .readers = parts().readers, .now = parts().time.wall()}, *id, {});
        if (requeued || requeued.error().code() != error_code::not_found) break;
    }
    if (!requeued) co_return answer_to_error(requeued.error());
    if (parts().wake) parts().wake();
    co_return json_response(
        200, json::serialize(json::object{{"messageId", id->to_string()}, {"status", "Pending"}}));
}

task<http_response> endpoints::inbox_stats() {
    const auto counts = received();
    const auto overview = co_await run_on(parts().readers, [&] {
        return overview_inbox(*parts().stores.back(), {counts.processed, counts.duplicates});
    });
    if (!overview) co_return answer_to_error(overview.error());
    auto shown = to_json(*overview);
    shown["failed"] = counts.failed;
    shown["refused"] = counts.refused;
    shown["conflicts"] = counts.conflicts;
    if (parts().of_file)  // Only a running node counts.
        for (const auto* counter :
             {"processed", "duplicates", "duplicateRate", "failed", "refused", "conflicts"})
            shown.erase(counter);
    co_return json_response(200, json::serialize(shown));
}

task<http_response> endpoints::inbox_messages(http_request request) {
    const auto asked = parse_inbox_query(request.query, parts().time.wall());
    if (!asked) co_return answer_to_error(asked.error());
    const auto page = co_await run_on(parts().readers, [&] {
        auto& where = *parts().stores.back();
        const inbox_filter wanted{.source = asked->source,
                                  .endpoint = asked->endpoint,
                                  .processed = asked->processed,
                                  .since = asked->since,
                                  .until = asked->until,
                                  .before_seq = asked->before,
                                  .limit = asked->limit};
        return asked->message_id ? find_inbox(where, *asked->message_id, wanted)
                                 : list_inbox(where, wanted);
    });
    co_return answer_to(page);
}

// Of a file there are none: only a running node has called anyone.
task<http_response> endpoints::inbox_refused(http_request request, admin_caller who) {
    if (!who.rights.payloads)
        co_return gate_.refuse(request, who,
                               "what a web service answered may repeat payloads; reading them "
                               "needs a key with that right: payloads = true beside it in "
                               "admin.keys");
    json::array calls;
    if (parts().refused != nullptr)
        for (const auto& each : parts().refused->list()) calls.push_back(to_json(each));
    co_return json_response(200, json::serialize(json::object{{"refused", std::move(calls)}}));
}

task<http_response> endpoints::store_kept() {
    if (!parts().store_report)
        co_return answer_to_error({error_code::not_found,
                                   "only a running node tells this; of a file 'posthorn doctor' "
                                   "does"});
    const auto report = co_await run_on(parts().readers, [this] { return parts().store_report(); });
    co_return json_response(200, json::serialize(to_json(report)));
}

task<http_response> endpoints::keys() {
    if (!parts().keys)
        co_return answer_to_error({error_code::not_found, "only a running node tells this"});
    co_return json_response(200, json::serialize(to_json(parts().keys())));
}

task<http_response> public_health(node_view& node) {
    const auto seen = co_await node.look();
    const auto verdict = judge_health(seen->facts);
    co_return json_response(verdict.working ? 200 : 503,
                            render_health({.status = verdict.status,
                                           .service = node.parts().service,
                                           .version = node.parts().version}));
}

}  // namespace

task<std::string> node_metrics(node_view& node, std::uint64_t refusals) {
    const auto& parts = node.parts();
    const auto seen = co_await node.look();
    const auto size =
        co_await run_on(parts.readers, [&parts] { return overview_inbox(*parts.stores.back()); });
    auto of_features = co_await run_on(parts.readers, [&parts] {
        prometheus_text text;
        for (const auto& write : parts.metrics) write(text);
        return text.take();
    });
    metrics_facts facts{
        .service = parts.service,
        .version = parts.version,
        .health = judge_health(seen->facts),
        .outbox = seen->facts.outbox,
        .store_read = seen->store_read && size.has_value(),
        .counters = parts.counters,
        .lanes = seen->facts.lanes,
        .inbox = parts.inbox ? parts.inbox() : nullptr,
        .backups = parts.backups ? parts.backups() : std::vector<sqlite::backup_state>{},
        .now = parts.time.wall(),
        .bad_signatures = parts.bad_signatures ? parts.bad_signatures() : 0,
        .refusals = refusals,
        .durable = parts.durable};
    if (size) facts.inbox_size = size->size;
    for (auto* const one : parts.stores) facts.disks.push_back(disk_of(*one));
    co_return render_metrics(facts) + std::move(of_features);
}

void add_public_routes(router& routes, node_view& node) {
    for (const auto* const path : {"/_rf/health", "/_workflow/health"})
        routes.add("GET", path, [&node](const http_request&) { return public_health(node); });
}

void add_admin_routes(admin_surface& into, node_view& node) {
    // Lives as long as a route does.
    const auto with = std::make_shared<endpoints>(node, into.gate());
    const auto look = [&](std::string path, const route_doc& doc, admin_handler handler) {
        into.add({"GET", std::move(path), admin_role::viewer, doc, std::move(handler)});
    };
    constexpr route_doc health{
        .summary = "The traffic light, its reasons, and what no one can deliver.",
        .answer =
            "{status: Light, working: boolean, reasons: [string], service: string,"
            " version: string, durable: boolean, undeliverable: Alarm,"
            " outbox: {oldestAgeMs: integer, pending: count, failed: count, expired: count,"
            " blocked: count}}",
        .shapes = shapes::of_node,
        .also = 503};
    for (const auto* const path : {"/_rf/health", "/_workflow/health"})
        look(path, health, [with](const auto&, const auto&) { return with->health(); });
    look("/metrics", {.summary = "Prometheus' text.", .answer = "string", .media = "text/plain"},
         [with](const auto&, const auto&) { return with->metrics(); });
    look("/_rf/outbox/stats",
         {.summary = "What waits and what was given up, by destination.",
          .answer = "{pending: count, failed: count, expired: count, resolved: count, sent?: count,"
                    " oldestAgeMs: integer, undeliverable: Alarm,"
                    " blocked: {messages: count, keys: [{destination: string, orderKey: string,"
                    " tenant?: string, waiting: count, behind: Blocker}]},"
                    " backlog: [{destination: string, pending: count, oldestAgeMs?: integer,"
                    " undeliverable?: count}], moreDestinations?: boolean,"
                    " peers: [{destination: string, reachable: boolean, since: time}],"
                    " durable: boolean}",
          .shapes = shapes::of_node},
         [with](const auto&, const auto&) { return with->outbox_stats(); });
    look("/_rf/outbox",
         {.summary = "Messages, newest first.",
          .answer = "{messages: [Message], next: integer | null}",
          .query = shapes::list_query,
          .shapes = shapes::of_messages},
         [with](http_request request, const auto&) {
             return with->messages(std::move(request), std::nullopt);
         });
    look("/_rf/outbox/failed",
         {.summary = "Dead messages, newest first.",
          .answer = "{messages: [Message], next: integer | null}",
          .query = shapes::list_query,
          .shapes = shapes::of_messages},
         [with](http_request request, const auto&) {
             return with->messages(std::move(request), outbox_status::dead);
         });
    look("/_rf/outbox/{messageId}",
         {.summary = "One message with every failed attempt.",
          .answer = "Detail",
          .query = shapes::payload_query,
          .shapes = shapes::of_messages},
         [with](http_request request, admin_caller who) {
             return with->message(std::move(request), std::move(who));
         });
    look("/_rf/inbox/stats",
         {.summary = "The size of the inbox, and how many duplicates it has caught.",
          .answer = "{size: count, processed?: integer, duplicates?: integer,"
                    " duplicateRate?: number, failed?: integer, refused?: integer,"
                    " conflicts?: integer}"},
         [with](const auto&, const auto&) { return with->inbox_stats(); });
    look("/_rf/inbox",
         {.summary = "What was taken in, newest first.",
          .answer = "{messages: [{messageId: string, seq: integer, sourceServiceId: string,"
                    " endpoint: string, expiresAt: time, processedAt?: time,"
                    " claimedUntil?: time}], next: integer | null}",
          .query = "{source?: string, endpoint?: string, messageId?: uuid,"
                   " state?: 'processed' | 'at work', since?: time, until?: time,"
                   " before?: integer, limit?: integer}"},
         [with](http_request request, const auto&) {
             return with->inbox_messages(std::move(request));
         });
    look("/_rf/inbox/refused",
         {.summary = "What web services answered when they did not take a message.",
          .answer = "{refused: [{at: time, messageId: string, source: string, endpoint: string,"
                    " status: integer, answer: string}]}"},
         [with](http_request request, admin_caller who) {
             return with->inbox_refused(std::move(request), std::move(who));
         });
    look("/_rf/store",
         {.summary = "How the databases are kept, and what the node finds weak in that.",
          .answer = "{databases: [{kind: string, place: string, holds: string, bytes?: integer,"
                    " logBytes?: integer, freeBytes?: integer, sizeError?: string,"
                    " disk?: {state: string, lowWaterBytes: integer, ballast: boolean,"
                    " refused: integer, freeBytes?: integer}}],"
                    " retention: [{what: string, keepMs: integer | null}],"
                    " findings: [{check: string, level: string, what: string, why?: string,"
                    " todo?: string}],"
                    " backups?: {folder: string, everyMs: integer, keepMs: integer,"
                    " databases: [{made: integer, failed: integer, newest?: time, bytes?: integer,"
                    " tookMs?: integer, lastError?: string}]}}"},
         [with](const auto&, const auto&) { return with->store_kept(); });
    look("/_rf/keys",
         {.summary = "Admin keys and those shared with other services, without a secret.",
          .answer = "{admin: [{name: string, role: string, payloads: boolean, secrets: boolean,"
                    " madeAt?: time}],"
                    " peers: [{peer: string, scheme: string, keys: [{id: string, state: string,"
                    " signsFrom?: time, verifiesUntil?: time}]}]}"},
         [with](const auto&, const auto&) { return with->keys(); });
    into.add(
        {"POST",
         "/_rf/outbox/{messageId}/retry",
         admin_role::operator_,
         {.summary = "Makes a dead message pending again.",
          .answer = "{messageId: string, status: 'Pending'}"},
         [with](http_request request, const auto&) { return with->retry(std::move(request)); }});
    add_inbox_routes(into, node);
    add_lane_routes(into, node);
    add_dead_routes(into, node);
    add_link_routes(into, node);
    add_replay_routes(into, node);
}

namespace {

task<http_response> answer_with(std::shared_ptr<const std::string> json) {
    co_return json_response(200, *json);
}

}  // namespace

void add_index(admin_surface& into, std::string_view service) {
    const auto add = [&](std::string path, const route_doc& doc) {
        auto text = std::make_shared<std::string>();  // Written once both are among the routes.
        into.add({"GET", std::move(path), admin_role::viewer, doc,
                  [text](const auto&, const auto&) { return answer_with(text); }});
        return text;
    };
    const auto index =
        add("/_rf", {.summary = "Every route of this listener.",
                     .answer = "{service: string, version: string, routes: [string]}"});
    const auto description =
        add("/_rf/openapi.json", {.summary = "Every route with what it takes and answers.",
                                  .answer = "{openapi: string, info: any, servers: any,"
                                            " security: any, paths: any, components: any}"});
    json::array paths;
    for (auto& each : into.routes().known()) paths.emplace_back(std::move(each));
    *index = json::serialize(
        json::object{{"service", service}, {"version", version}, {"routes", std::move(paths)}});
    *description = json::serialize(describe_routes(into.all(), version));
}

}  // namespace posthorn
