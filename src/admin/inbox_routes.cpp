#include "admin/inbox_routes.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "admin/json_answer.hpp"
#include "admin/json_fields.hpp"
#include "admin/render.hpp"
#include "base/async/run_on.hpp"
#include "base/text/url_query.hpp"
#include "history/sample.hpp"
#include "operations/inbox_detail.hpp"
#include "operations/intake_health.hpp"
#include "operations/query.hpp"
#include "store/rows/text_search.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

constexpr std::array failed_shapes{
    named_shape{"FailedMessage",
                "{messageId: string, source: string, endpoint: string, first: time, last: time,"
                " times: integer, why: string, error?: string}"}};

struct show_query {
    std::string source{};
    bool payload = false;
};

result<show_query> read_query(std::string_view query) {
    show_query asked;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, std::string_view value) -> result<> {
            if (name == "source")
                asked.source = value;
            else if (name == "payload" && (value == "true" || value == "false"))
                asked.payload = value == "true";
            else
                return fail(error_code::invalid_argument,
                            "'{}' cannot be asked for; use source, or payload=true", text(name));
            return {};
        }));
    return asked;
}

json::object to_json(const inbox_detail& one, bool with_payload) {
    const auto& row = one.summary;
    json::object shown{{"messageId", text(row.id)},
                       {"seq", row.seq},
                       {"sourceServiceId", text(row.source)},
                       {"endpoint", text(row.endpoint)},
                       {"state", row.processed_at ? "processed" : "at work"}};
    set(shown, "processedAt", row.processed_at);
    set(shown, "claimedUntil", row.claimed_until);
    set(shown, "claimedBy", one.claim_owner);
    shown["expiresAt"] = to_iso8601(row.expires_at);
    shown["bodyHash"] = one.body_hash;
    shown["responseBytes"] = one.response.size();
    if (with_payload && row.processed_at) shown["response"] = text(one.response);
    return shown;
}

json::array refused_of(const node_view_deps& parts, const uuid& id, const show_query& asked) {
    json::array calls;
    if (parts.refused == nullptr) return calls;
    for (const auto& each : parts.refused->list()) {
        if (each.id != id || (!asked.source.empty() && each.source != asked.source)) continue;
        auto shown = to_json(each);
        if (!asked.payload) shown.erase("answer");
        calls.push_back(std::move(shown));
    }
    return calls;
}

json::object to_json(const failed_message& one) {
    json::object shown{{"messageId", one.id.to_string()},
                       {"source", text(one.source)},
                       {"endpoint", text(one.endpoint)},
                       {"first", to_iso8601(one.first)},
                       {"last", to_iso8601(one.last)},
                       {"times", one.times},
                       {"why", text(one.why)}};
    if (one.code) shown["error"] = describe(*one.code).name;
    return shown;
}

bool is_wanted(const failed_message& one, const inbox_query& wanted) {
    if (wanted.message_id && one.id != *wanted.message_id) return false;
    if (!wanted.source.empty() && one.source != wanted.source) return false;
    if (!wanted.endpoint.empty() && one.endpoint != wanted.endpoint) return false;
    return contains_whatever_the_case(one.why, wanted.error);
}

/// Of a file there are none: only a running node knows what it did not take in.
json::array failed_of(const node_view_deps& parts, const inbox_query& wanted) {
    json::array shown;
    const auto* const inbox = parts.inbox ? parts.inbox() : nullptr;
    if (inbox == nullptr) return shown;
    for (const auto& each : inbox->failed().list())
        if (is_wanted(each, wanted)) shown.push_back(to_json(each));
    return shown;
}

task<http_response> list_failed(node_view& node, http_request request) {
    const auto asked = parse_failed_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    co_return json_response(
        200, json::serialize(json::object{{"failed", failed_of(node.parts(), *asked)}}));
}

task<http_response> show(node_view& node, admin_gate& gate, http_request request,
                         admin_caller who) {
    const auto& parts = node.parts();
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    const auto asked = read_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    if (asked->payload && !who.rights.payloads)
        co_return gate.refuse(request, who,
                              "reading payloads needs a key with that right: payloads = true "
                              "beside it in admin.keys");
    const auto found = co_await run_on(parts.readers, [&] {
        return show_inbox(*parts.stores.back(), {.id = *id, .source = asked->source});
    });
    if (!found) co_return answer_to_error(found.error());
    json::array received;
    for (const auto& one : *found) received.push_back(to_json(one, asked->payload));
    auto refused = refused_of(parts, *id, *asked);
    auto failed = failed_of(parts, {.source = asked->source, .message_id = *id});
    if (received.empty() && refused.empty() && failed.empty())
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format("no message {} is in the inbox; it has not arrived, was not taken, or is "
                         "remembered no longer",
                         id->to_string())});
    co_return json_response(200, json::serialize(json::object{{"received", std::move(received)},
                                                              {"failed", std::move(failed)},
                                                              {"refused", std::move(refused)}}));
}

/// What the node knows of an endpoint: how its messages fare, and whether it only fails now.
json::object to_json(std::string_view endpoint, const endpoint_counts& counted) {
    json::object shown{{"endpoint", text(endpoint)},
                       {"handled", counted.processed},
                       {"duplicates", counted.duplicates},
                       {"failed", counted.failed}};
    const std::vector<double> took(counted.took.begin(), counted.took.end());
    if (counted.processed > 0) {
        shown["p50Ms"] = percentile_us(took, 50) / 1000;
        shown["p99Ms"] = percentile_us(took, 99) / 1000;
    }
    return shown;
}

json::object to_json(const standing_failure& one) {
    json::object shown{{"since", to_iso8601(one.since)},
                       {"last", to_iso8601(one.last)},
                       {"times", one.times},
                       {"source", text(one.with)},
                       {"why", text(one.why)}};
    if (one.code) shown["error"] = describe(*one.code).name;
    return shown;
}

task<http_response> list_handlers(node_view& node) {
    const auto& parts = node.parts();
    const auto* const inbox = parts.inbox ? parts.inbox() : nullptr;
    json::array shown;
    if (inbox != nullptr) {
        auto all = inbox->endpoints().view();
        const auto failing = inbox->failures().list(parts.time.wall() - failure_remembered);
        // One without a handler is counted among the others.
        for (const auto& each : failing) all.try_emplace(each.name);
        for (const auto& [endpoint, counted] : all) {
            auto one = to_json(endpoint, counted);
            const auto fails = std::ranges::find(failing, endpoint, &standing_failure::name);
            if (fails != failing.end()) one["failing"] = to_json(*fails);
            shown.push_back(std::move(one));
        }
    }
    co_return json_response(200, json::serialize(json::object{{"handlers", std::move(shown)}}));
}

}  // namespace

void add_inbox_routes(admin_surface& into, node_view& node) {
    into.add({"GET",
              "/_rf/inbox/handlers",
              admin_role::viewer,
              {.summary = "What handlers did since the node started, how long they took, and which "
                          "of them only fail now.",
               .answer = "{handlers: [{endpoint: string, handled: integer, duplicates: integer,"
                         " failed: integer, p50Ms?: number, p99Ms?: number,"
                         " failing?: {since: time, last: time, times: integer, source: string,"
                         " why: string, error?: string}}]}"},
              [&node](const auto&, const auto&) { return list_handlers(node); }});
    into.add(
        {"GET",
         "/_rf/inbox/failed",
         admin_role::viewer,
         {.summary = "Messages that were not taken in, and why: each once, the newest 100 since "
                     "the node started.",
          .answer = "{failed: [FailedMessage]}",
          .query = "{source?: string, endpoint?: string, messageId?: uuid, error?: string}",
          .shapes = failed_shapes},
         [&node](http_request request, const auto&) {
             return list_failed(node, std::move(request));
         }});
    into.add({"GET",
              "/_rf/inbox/{messageId}",
              admin_role::viewer,
              {.summary = "What is kept of one message that was taken in, or was refused.",
               .answer = "{received: [{messageId: string, seq: integer, sourceServiceId: string,"
                         " endpoint: string, state: 'processed' | 'at work', processedAt?: time,"
                         " claimedUntil?: time, claimedBy?: string, expiresAt: time,"
                         " bodyHash: string, responseBytes: integer, response?: string}],"
                         " failed: [FailedMessage],"
                         " refused: [{at: time, messageId: string, source: string,"
                         " endpoint: string, status: integer, answer?: string}]}",
               .query = "{source?: string, payload?: boolean}",
               .shapes = failed_shapes},
              [&node, &gate = into.gate()](http_request request, admin_caller who) {
                  return show(node, gate, std::move(request), std::move(who));
              }});
}

}  // namespace posthorn
