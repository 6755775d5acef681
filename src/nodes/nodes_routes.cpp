#include "nodes/nodes_routes.hpp"

#include <charconv>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <posthorn/uuid.hpp>

#include "base/async/run_on.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "feature/answers.hpp"
#include "nodes/ask_all.hpp"
#include "nodes/life_routes.hpp"
#include "nodes/nodes_table.hpp"
#include "nodes/search.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t search_bytes_max = std::size_t{1} << 20;
constexpr std::int64_t page_max = 2000;

constexpr std::string_view one_node =
    "{name: string, url: string, light: 'green' | 'yellow' | 'red' | 'unknown',"
    " reasons: [string], since?: time, askedAt?: time, seenAt?: time, latencyMs?: integer,"
    " service?: string, version?: string}";
constexpr std::array node_shapes{named_shape{"WatchedNode", one_node}};

json::array to_json(const std::vector<std::string>& reasons) {
    json::array list;
    for (const auto& each : reasons) list.emplace_back(each);
    return list;
}

json::object to_json(const watched_node& node, const std::optional<known_light>& known,
                     wall_time now, std::chrono::milliseconds every) {
    json::object shown{{"name", node.name}, {"url", node.url}};
    if (!known) {
        shown["light"] = "unknown";
        shown["reasons"] = json::array{"was not asked yet"};
        return shown;
    }
    const auto& [last, since, told] = *known;
    if (is_fresh(last.asked, now, every)) {
        shown["light"] = last.light.colour;
        shown["reasons"] = to_json(last.light.reasons);
        shown["since"] = to_iso8601(since);
    } else {
        shown["light"] = "unknown";
        shown["reasons"] =
            json::array{fmt::format("was asked for the last time at {}, and was {} then",
                                    to_iso8601(last.asked), last.light.colour)};
    }
    shown["askedAt"] = to_iso8601(last.asked);
    if (told) shown["seenAt"] = to_iso8601(*told);
    if (last.light.answered) shown["latencyMs"] = last.latency.count();
    if (!last.light.service.empty()) shown["service"] = last.light.service;
    if (!last.light.version.empty()) shown["version"] = last.light.version;
    return shown;
}

json::object to_json(const light_span& span) {
    return {{"seq", span.seq},
            {"from", to_iso8601(span.began)},
            {"to", to_iso8601(span.asked)},
            {"light", span.light.colour},
            {"reasons", to_json(span.light.reasons)},
            {"answered", span.light.answered}};
}

result<json::object> look_at(const nodes_deps& with, const watched_node& node) {
    json::object shown;
    POSTHORN_TRY(with.where.read([&](store_reader& from) -> result<> {
        POSTHORN_LET(known, read_known(from, node.name));
        shown = to_json(node, known, with.env.clock.wall(), with.asker.watch().every);
        return {};
    }));
    return shown;
}

task<http_response> list(const nodes_deps& with) {
    const auto read = co_await run_on(with.env.readers, [&with]() -> result<json::array> {
        json::array all;
        for (const auto& each : with.asker.watch().nodes) {
            POSTHORN_LET(shown, look_at(with, each));
            all.push_back(std::move(shown));
        }
        return all;
    });
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(200, json::serialize(json::object{{"nodes", *read}}));
}

error no_such_node(std::string_view name) {
    return {error_code::not_found, fmt::format("desk.nodes has no '{}'", clean_utf8(name, 100))};
}

result<light_page> read_page(std::string_view query) {
    light_page page;
    const auto read_one = [&](std::string_view name, std::string_view value) -> result<> {
        std::int64_t number = 0;
        const auto [end, failure] = std::from_chars(value.begin(), value.end(), number);
        const bool is_number = failure == std::errc{} && end == value.end() && number >= 1;
        if (name == "limit" && is_number && number <= page_max)
            page.limit = number;
        else if (name == "before" && is_number)
            page.before = number;
        else
            return fail(error_code::invalid_argument,
                        "'{}={}' cannot be asked for; there are limit (1 to {}) and before (the "
                        "next of an earlier page)",
                        clean_utf8(name, 100), clean_utf8(value, 100), page_max);
        return {};
    };
    POSTHORN_TRY(for_each_parameter(query, read_one));
    return page;
}

task<http_response> history(const nodes_deps& with, http_request request) {
    const auto& name = request.parameters["node"];
    const auto* const node = with.asker.find(name);
    if (node == nullptr) co_return answer_to_error(no_such_node(name));
    const auto page = read_page(request.query);
    if (!page) co_return answer_to_error(page.error());
    const auto read = co_await run_on(with.env.readers, [&]() -> result<json::object> {
        POSTHORN_LET(shown, look_at(with, *node));
        std::vector<light_span> spans;
        POSTHORN_TRY(with.where.read([&](store_reader& from) -> result<> {
            POSTHORN_LET(found, read_spans(from, node->name, *page));
            spans = std::move(found);
            return {};
        }));
        json::array all;
        for (const auto& each : spans) all.push_back(to_json(each));
        const bool is_full = spans.size() == static_cast<std::size_t>(page->limit);
        return json::object{{"node", std::move(shown)},
                            {"history", std::move(all)},
                            {"next", is_full ? json::value(spans.back().seq) : json::value()}};
    });
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(200, json::serialize(*read));
}

task<> ask_one(const node_asker& asker, const watched_node& node, const std::string& target,
               node_hits& into) {
    into = read_hits(node.name, co_await asker.get(node, target, search_bytes_max));
}

task<http_response> search(const nodes_deps& with, http_request request) {
    const auto target = search_target(request.query, with.env.clock.wall());
    if (!target) co_return answer_to_error(target.error());
    if (!with.asker.can_ask()) co_return answer_to_error(nothing_to_ask_with());
    const auto& nodes = with.asker.watch().nodes;
    std::vector<node_hits> found(nodes.size());
    co_await ask_all(nodes.size(), nodes_asked_at_once, [&](std::size_t i) {
        return ask_one(with.asker, nodes[i], *target, found[i]);
    });
    json::array hits;
    json::array asked;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto& [messages, why, more] = found[i];
        for (auto& each : messages) hits.push_back(std::move(each));
        json::object one{{"node", nodes[i].name}, {"answered", why.empty()}, {"more", more}};
        if (!why.empty()) one["why"] = why;
        asked.push_back(std::move(one));
    }
    co_return json_response(
        200, json::serialize(json::object{{"hits", std::move(hits)}, {"nodes", std::move(asked)}}));
}

task<http_response> one_message(const nodes_deps& with, http_request request) {
    const auto& name = request.parameters["node"];
    const auto* const node = with.asker.find(name);
    if (node == nullptr) co_return answer_to_error(no_such_node(name));
    const auto id = uuid::parse(request.parameters["messageId"]);
    if (!id || !request.query.empty())
        co_return answer_to_error(
            {error_code::invalid_argument,
             "name a message by its UUID, and nothing else; the payload is shown by the node "
             "itself alone"});
    if (!with.asker.can_ask()) co_return answer_to_error(nothing_to_ask_with());
    auto read = read_message(
        node->name,
        co_await with.asker.get(*node, "/_rf/outbox/" + id->to_string(), search_bytes_max));
    if (!read) co_return answer_to_error(read.error());
    co_return json_response(
        200, json::serialize(json::object{
                 {"node", node->name}, {"url", node->url}, {"message", *std::move(read)}}));
}

}  // namespace

error nothing_to_ask_with() {
    return {error_code::not_found,
            "only a running node asks others; give its admin address with --url"};
}

admin_route nodes_route(const nodes_deps& with) {
    return {"GET",
            "/_rf/nodes",
            admin_role::viewer,
            {.summary = "The other nodes that the desk shows, each with its light.",
             .answer = "{nodes: [WatchedNode]}",
             .shapes = node_shapes},
            [&with](const http_request&, const admin_caller&) { return list(with); }};
}

std::vector<admin_route> node_routes(const nodes_deps& with) {
    return {
        admin_route{
            "GET",
            "/_rf/nodes/{node}",
            admin_role::viewer,
            {.summary = "The light of another node over the last seven days, newest first.",
             .answer = "{node: WatchedNode, history: [{seq: integer, from: time, to: time,"
                       " light: 'green' | 'yellow' | 'red', reasons: [string], answered: boolean}],"
                       " next: integer | null}",
             .query = "{limit?: integer, before?: integer}",
             .shapes = node_shapes},
            [&with](http_request request, const admin_caller&) {
                return history(with, std::move(request));
            }},
        {"GET",
         "/_rf/nodes/{node}/outbox/{messageId}",
         admin_role::viewer,
         {.summary = "A message of another node, read from it now, without its payload.",
          .answer = "{node: string, url: string, message: any}"},
         [&with](http_request request, const admin_caller&) {
             return one_message(with, std::move(request));
         }},
        admin_route{
            "GET",
            "/_rf/search",
            admin_role::viewer,
            {.summary =
                 "Messages of all other nodes, which are asked at the same time; those that did "
                 "not answer are named.",
             .answer = "{hits: [{node: string, messageId: string, destination: string,"
                       " endpoint: string, status: string, createdAt: string, lastError?: string,"
                       " orderKey?: string, correlationId?: string}],"
                       " nodes: [{node: string, answered: boolean, more: boolean, why?: string}]}",
             .query = "{messageId?: uuid, status?: string, destination?: string, endpoint?: string,"
                      " correlationId?: string, causationId?: string, tenant?: string,"
                      " orderKey?: string, error?: string, since?: time, until?: time,"
                      " limit?: integer}"},
            [&with](http_request request, const admin_caller&) {
                return search(with, std::move(request));
            }},
        life_route(with),
    };
}

result<light_counts> count_lights(const nodes_deps& with) {
    light_counts counts;
    for (const auto& each : with.asker.watch().nodes) {
        POSTHORN_LET(shown, look_at(with, each));
        const std::string_view light = shown.at("light").as_string();
        ++(light == "green"    ? counts.green
           : light == "yellow" ? counts.yellow
           : light == "red"    ? counts.red
                               : counts.unknown);
    }
    return counts;
}

}  // namespace posthorn
