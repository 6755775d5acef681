#include "admin/link_routes.hpp"

#include <array>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "admin/json_answer.hpp"
#include "admin/json_fields.hpp"
#include "base/async/run_on.hpp"
#include "operations/links.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;
using namespace json_fields;

json::object to_json(const linked_message& one) {
    return {{"messageId", text(one.id)},
            {"destination", text(one.destination)},
            {"endpoint", text(one.endpoint)},
            {"status", text(one.status)},
            {"createdAt", to_iso8601(one.created_at)}};
}

json::object to_json(const taken_message& one) {
    json::object shown{{"sourceServiceId", text(one.source)}, {"endpoint", text(one.endpoint)}};
    set(shown, "processedAt", one.processed_at);
    set(shown, "claimedUntil", one.claimed_until);
    return shown;
}

json::object to_json(const message_links& links) {
    json::array taken;
    for (const auto& one : links.taken) taken.push_back(to_json(one));
    json::array caused;
    for (const auto& one : links.caused) caused.push_back(to_json(one));
    json::object shown{
        {"taken", std::move(taken)}, {"caused", std::move(caused)}, {"more", links.more}};
    if (links.sent) shown["sent"] = to_json(*links.sent);
    if (links.cause_id.empty()) return shown;
    json::object cause{{"messageId", text(links.cause_id)}};
    if (links.cause_sent) cause["sent"] = to_json(*links.cause_sent);
    if (links.cause_taken) cause["taken"] = to_json(*links.cause_taken);
    shown["cause"] = std::move(cause);
    return shown;
}

task<http_response> links(node_view& node, http_request request) {
    const auto id = message_id_of(request);
    if (!id) co_return answer_to_error(id.error());
    const auto& parts = node.parts();
    const auto found =
        co_await run_on(parts.readers, [&] { return find_links(parts.stores, *id); });
    if (!found) co_return answer_to_error(found.error());
    co_return json_response(200, json::serialize(to_json(*found)));
}

}  // namespace

void add_link_routes(admin_surface& into, node_view& node) {
    static constexpr std::array shapes{
        named_shape{"LinkedMessage",
                    "{messageId: string, destination: string, endpoint: string, status: string,"
                    " createdAt: time}"},
        named_shape{"TakenMessage",
                    "{sourceServiceId: string, endpoint: string, processedAt?: time,"
                    " claimedUntil?: time}"}};
    into.add(
        {"GET",
         "/_rf/links/{messageId}",
         admin_role::viewer,
         {.summary = "What caused a message, where it was taken in, and what it caused.",
          .answer = "{taken: [TakenMessage], caused: [LinkedMessage], more: boolean,"
                    " sent?: LinkedMessage, cause?: {messageId: string, sent?: LinkedMessage,"
                    " taken?: TakenMessage}}",
          .shapes = shapes},
         [&node](http_request request, const auto&) { return links(node, std::move(request)); }});
}

}  // namespace posthorn
