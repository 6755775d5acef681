#include "nodes/life_routes.hpp"

#include <array>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <posthorn/uuid.hpp>

#include "base/text/url_query.hpp"
#include "feature/answers.hpp"
#include "nodes/ask_all.hpp"
#include "nodes/life.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t answer_bytes_max = std::size_t{256} << 10;  // Of one node.

/// One message, and the one that caused it, if that is known where it is asked.
struct life_question {
    std::string id;
    std::string cause{};
};

result<life_question> read_question(const http_request& request) {
    const auto id = uuid::parse(request.parameters.at("messageId"));
    if (!id)
        return fail(error_code::invalid_argument, "the path names no message id (expected a UUID)");
    static constexpr std::array<std::string_view, 1> known{"cause"};
    POSTHORN_LET(fields, read_query_fields(request.query, known));
    life_question asked{.id = id->to_string()};
    if (const auto given = fields.find("cause"); given != fields.end()) {
        const auto cause = uuid::parse(given->second);
        if (!cause)
            return fail(error_code::invalid_argument,
                        "cause is the id of the message that caused it (expected a UUID)");
        asked.cause = cause->to_string();
    }
    return asked;
}

task<> ask_one(const node_asker& asker, const watched_node& node, const life_question& what,
               node_traces& into) {
    into = read_traces(node.name, what.id,
                       co_await asker.get(node, "/_rf/links/" + what.id, answer_bytes_max));
    if (what.cause.empty() || !into.why.empty()) co_return;
    add_cause(into, node.name,
              co_await asker.get(node, "/_rf/outbox/" + what.cause, answer_bytes_max));
}

task<http_response> life(const nodes_deps& with, http_request request) {
    const auto asked = read_question(request);
    if (!asked) co_return answer_to_error(asked.error());
    if (!with.asker.can_ask()) co_return answer_to_error(nothing_to_ask_with());
    const auto& nodes = with.asker.watch().nodes;
    std::vector<node_traces> found(nodes.size());
    co_await ask_all(nodes.size(), nodes_asked_at_once, [&](std::size_t i) {
        return ask_one(with.asker, nodes[i], *asked, found[i]);
    });
    json::array traces;
    json::array answered;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto& [of_node, why, more] = found[i];
        for (auto& each : of_node) traces.push_back(std::move(each));
        json::object one{{"node", nodes[i].name},
                         {"url", nodes[i].url},
                         {"answered", why.empty()},
                         {"more", more}};
        if (!why.empty()) one["why"] = why;
        answered.push_back(std::move(one));
    }
    co_return json_response(200, json::serialize(json::object{{"traces", std::move(traces)},
                                                              {"nodes", std::move(answered)}}));
}

}  // namespace

admin_route life_route(const nodes_deps& with) {
    return {
        "GET",
        "/_rf/life/{messageId}",
        admin_role::viewer,
        {.summary = "What all other nodes know of a message, which are asked at the same time: who"
                    " sent it, where it took effect, what it caused there. Those that did not"
                    " answer are named.",
         .answer = "{traces: [{node: string, what: 'sent' | 'taken' | 'caused' | 'cause',"
                   " messageId: string, service: string, endpoint: string, status: string,"
                   " at?: string}],"
                   " nodes: [{node: string, url: string, answered: boolean, more: boolean,"
                   " why?: string}]}",
         .query = "{cause?: uuid}"},
        [&with](http_request request, const admin_caller&) {
            return life(with, std::move(request));
        }};
}

}  // namespace posthorn
