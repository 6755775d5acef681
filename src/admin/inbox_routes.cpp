#include "admin/inbox_routes.hpp"

#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "admin/json_answer.hpp"
#include "admin/json_fields.hpp"
#include "admin/render.hpp"
#include "base/async/run_on.hpp"
#include "operations/inbox_detail.hpp"
#include "operations/query.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

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

task<http_response> show(node_view& node, admin_gate& gate, http_request request,
                         admin_caller who) {
    const auto& parts = node.parts();
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    const auto asked = read_query(request.query);
    if (!asked) co_return answer_to_error(asked.error());
    if (asked->payload && !who.payloads)
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
    if (received.empty() && refused.empty())
        co_return answer_to_error(
            {error_code::not_found,
             fmt::format("no message {} is in the inbox; it has not arrived, was not taken, or is "
                         "remembered no longer",
                         id->to_string())});
    co_return json_response(200, json::serialize(json::object{{"received", std::move(received)},
                                                              {"refused", std::move(refused)}}));
}

}  // namespace

void add_inbox_routes(admin_surface& into, node_view& node) {
    into.add({"GET",
              "/_rf/inbox/{messageId}",
              admin_role::viewer,
              {.summary = "What is kept of one message that was taken in, or was refused.",
               .answer = "{received: [{messageId: string, seq: integer, sourceServiceId: string,"
                         " endpoint: string, state: 'processed' | 'at work', processedAt?: time,"
                         " claimedUntil?: time, claimedBy?: string, expiresAt: time,"
                         " bodyHash: string, responseBytes: integer, response?: string}],"
                         " refused: [{at: time, messageId: string, source: string,"
                         " endpoint: string, status: integer, answer?: string}]}",
               .query = "{source?: string, payload?: boolean}"},
              [&node, &gate = into.gate()](http_request request, admin_caller who) {
                  return show(node, gate, std::move(request), std::move(who));
              }});
}

}  // namespace posthorn
