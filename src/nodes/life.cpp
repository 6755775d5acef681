#include "nodes/life.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json/object.hpp>

#include "nodes/told.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t traces_max = 100;  // Of each kind.

constexpr std::array<std::string_view, 5> outbox_texts{"messageId", "destination", "endpoint",
                                                       "status", "createdAt"};
constexpr std::array<std::string_view, 2> inbox_texts{"sourceServiceId", "endpoint"};
constexpr std::array<std::string_view, 2> inbox_times{"processedAt", "claimedUntil"};

struct trace_of {
    std::string_view node;
    std::string_view what;
};

/// Empty if it is no message of an outbox.
json::object outbox_trace(trace_of where, const json::value& from) {
    const auto texts = texts_of(from, {.needed = outbox_texts});
    if (texts.empty()) return {};
    return {{"node", where.node},
            {"what", where.what},
            {"messageId", texts.at("messageId")},
            {"service", texts.at("destination")},
            {"endpoint", texts.at("endpoint")},
            {"status", texts.at("status")},
            {"at", texts.at("createdAt")}};
}

/// Empty if it is no message of an inbox.
json::object inbox_trace(trace_of where, std::string_view id, const json::value& from) {
    const auto texts = texts_of(from, {.needed = inbox_texts, .more = inbox_times});
    if (texts.empty()) return {};
    const auto* const done = texts.if_contains("processedAt");
    const auto* const claimed = texts.if_contains("claimedUntil");
    json::object trace{{"node", where.node},
                       {"what", where.what},
                       {"messageId", id},
                       {"service", texts.at("sourceServiceId")},
                       {"endpoint", texts.at("endpoint")},
                       {"status", done != nullptr ? "handled" : "at work"}};
    if (done != nullptr)
        trace["at"] = *done;
    else if (claimed != nullptr)
        trace["at"] = *claimed;
    return trace;
}

void add(node_traces& into, json::object trace) {
    if (!trace.empty()) into.traces.push_back(std::move(trace));
}

/// Calls `take` for each of a list, up to `traces_max`.
template <class Take>
void for_each_of(node_traces& into, const json::value& list, const Take& take) {
    std::size_t seen = 0;
    for (const auto& each : list.get_array()) {
        if (++seen > traces_max) {
            into.more = true;
            return;
        }
        take(each);
    }
}

json::object cause_in(std::string_view node, const json::object& body) {
    const auto* const cause = body.if_contains("cause");
    if (cause == nullptr) return {};
    constexpr std::array<std::string_view, 1> id_alone{"messageId"};
    const auto named = texts_of(*cause, {.needed = id_alone});
    if (named.empty()) return {};
    const trace_of where{.node = node, .what = "cause"};
    const auto& fields = cause->get_object();
    if (const auto* const sent = fields.if_contains("sent")) return outbox_trace(where, *sent);
    const auto* const taken = fields.if_contains("taken");
    if (taken == nullptr) return {};
    return inbox_trace(where, named.at("messageId").get_string(), *taken);
}

}  // namespace

node_traces read_traces(std::string_view node, std::string_view id,
                        const result<http_response>& answer) {
    const auto [body, has_none, why] = read_told(answer);
    if (has_none || !why.empty()) return {.why = why};
    const auto* const taken = body.if_contains("taken");
    const auto* const caused = body.if_contains("caused");
    if (taken == nullptr || !taken->is_array() || caused == nullptr || !caused->is_array())
        return {.why = not_as_a_node(*answer)};
    node_traces found;
    add(found, cause_in(node, body));
    if (const auto* const sent = body.if_contains("sent"))
        add(found, outbox_trace({.node = node, .what = "sent"}, *sent));
    for_each_of(found, *taken, [&](const json::value& each) {
        add(found, inbox_trace({.node = node, .what = "taken"}, id, each));
    });
    for_each_of(found, *caused, [&](const json::value& each) {
        add(found, outbox_trace({.node = node, .what = "caused"}, each));
    });
    const auto* const more = body.if_contains("more");
    found.more = found.more || (more != nullptr && more->is_bool() && more->get_bool());
    return found;
}

void add_cause(node_traces& into, std::string_view node, const result<http_response>& answer) {
    const auto is_cause = [](const json::value& each) { return each.at("what") == "cause"; };
    if (std::ranges::any_of(into.traces, is_cause)) return;
    auto [body, has_none, why] = read_told(answer);
    if (!why.empty()) into.why = std::move(why);
    add(into, outbox_trace({.node = node, .what = "cause"}, json::value(std::move(body))));
}

}  // namespace posthorn
