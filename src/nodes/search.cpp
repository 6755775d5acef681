#include "nodes/search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/ranges.h>

#include <posthorn/uuid.hpp>

#include "base/text/percent.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "base/time/time_range.hpp"
#include "nodes/told.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr int limit_default = 20;
constexpr int limit_max = 100;  // Of each node.
constexpr std::size_t hits_max = 100;

constexpr std::array<std::string_view, 10> filters{
    "status", "destination", "endpoint", "correlationId", "causationId",
    "tenant", "orderKey",    "error",    "since",         "until"};
/// What a list shows of a message.
constexpr std::array<std::string_view, 5> shown_always{"messageId", "destination", "endpoint",
                                                       "status", "createdAt"};
constexpr std::array<std::string_view, 3> shown_if_there{"lastError", "orderKey", "correlationId"};

std::unexpected<error> unknown(std::string_view name, std::string_view value) {
    return fail(error_code::invalid_argument,
                "'{}={}' cannot be asked for; there are messageId (a UUID), {} and limit (1 to {}, "
                "of each node)",
                clean_utf8(name, 100), clean_utf8(value, 100), fmt::join(filters, ", "), limit_max);
}

bool is_limit(std::string_view text) {
    int number = 0;
    const auto [end, failure] = std::from_chars(text.begin(), text.end(), number);
    return failure == std::errc{} && end == text.end() && number >= 1 && number <= limit_max;
}

/// The fields that are shown; empty if it is no message.
json::object hit_of(std::string_view node, const json::value& from) {
    auto texts = texts_of(from, {.needed = shown_always, .more = shown_if_there});
    if (texts.empty()) return {};
    json::object hit{{"node", node}};
    for (auto& each : texts) hit[each.key()] = std::move(each.value());
    return hit;
}

}  // namespace

result<std::string> search_target(std::string_view query, wall_time now) {
    std::string target;
    std::string limit = std::to_string(limit_default);
    std::optional<uuid> id;
    time_range when;
    const auto read_one = [&](std::string_view name, const std::string& value) -> result<> {
        if (name == "messageId") {
            id = uuid::parse(value);
            if (!id) return unknown(name, value);
        } else if (name == "limit") {
            if (!is_limit(value)) return unknown(name, value);
            limit = value;
        } else if (std::ranges::find(filters, name) != filters.end()) {
            if (name == "since" || name == "until") {
                auto& side = name == "since" ? when.since : when.until;
                POSTHORN_TRY(read_time(name, value, side));
            }
            target += fmt::format("&{}={}", name, percent_encode(value));
        } else {
            return unknown(name, value);
        }
        return {};
    };
    POSTHORN_TRY(for_each_parameter(query, read_one));
    POSTHORN_TRY(check_times(when, now));
    if (!id) return fmt::format("/_rf/outbox?limit={}{}", limit, target);
    if (!target.empty())
        return fail(error_code::invalid_argument,
                    "a messageId names one message; leave the other filters out");
    return "/_rf/outbox/" + id->to_string();
}

node_hits read_hits(std::string_view node, const result<http_response>& answer) {
    auto [body, has_none, why] = read_told(answer);
    if (has_none || !why.empty()) return {.why = std::move(why)};
    node_hits found;
    if (const auto* const list = body.if_contains("messages"); list && list->is_array()) {
        for (const auto& each : list->get_array())
            if (auto hit = hit_of(node, each); !hit.empty() && found.messages.size() < hits_max)
                found.messages.push_back(std::move(hit));
        const auto* const next = body.if_contains("next");
        found.more = next && !next->is_null();
        return found;
    }
    auto hit = hit_of(node, body);
    if (hit.empty()) return {.why = not_as_a_node(*answer)};
    found.messages.push_back(std::move(hit));
    return found;
}

result<json::object> read_message(std::string_view node, const result<http_response>& answer) {
    if (!answer)
        return fail(error_code::unreachable, "'{}' does not answer: {}", node,
                    answer.error().what());
    auto [message, has_none, why] = read_told(answer);
    if (has_none) return fail(error_code::not_found, "'{}' has no such message", node);
    if (why.empty() && hit_of(node, message).empty()) why = not_as_a_node(*answer);
    if (!why.empty())
        return fail(error_code::unreachable, "'{}' did not show the message: {}", node, why);
    message.erase("payload");
    message.erase("headers");
    return std::move(message);
}

}  // namespace posthorn
