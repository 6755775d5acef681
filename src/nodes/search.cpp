#include "nodes/search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <boost/json/parse.hpp>
#include <fmt/ranges.h>

#include <posthorn/uuid.hpp>

#include "base/text/percent.hpp"
#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "base/time/time_range.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr int limit_default = 20;
constexpr int limit_max = 100;  // Of each node.
constexpr std::size_t hits_max = 100;
constexpr std::size_t text_characters_max = 1024;

constexpr std::array<std::string_view, 10> filters{
    "status", "destination", "endpoint", "correlationId", "causationId",
    "tenant", "orderKey",    "error",    "since",         "until"};
/// What a list shows of a message.
constexpr std::array<std::string_view, 8> shown{"messageId", "destination",  "endpoint",
                                                "status",    "createdAt",    "lastError",
                                                "orderKey",  "correlationId"};

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
    const auto* const fields = from.if_object();
    json::object hit{{"node", node}};
    for (const auto name : shown) {
        const auto* const value = fields ? fields->if_contains(name) : nullptr;
        if (value && value->is_string())
            hit[name] = clean_utf8(value->as_string(), text_characters_max);
    }
    for (const std::string_view needed :
         {"messageId", "destination", "endpoint", "status", "createdAt"})
        if (!hit.contains(needed)) return {};
    return hit;
}

std::string message_in(const json::value& body) {
    const auto* const fields = body.if_object();
    const auto* const text = fields ? fields->if_contains("message") : nullptr;
    return text && text->is_string() ? clean_utf8(text->as_string(), text_characters_max) : "";
}

std::string why_refused(const http_response& answer, const json::value& body) {
    if (answer.status == 401 || answer.status == 403)
        return "it refuses the key that desk.nodes has for it";
    auto said = message_in(body);
    if (!said.empty()) return said;
    return fmt::format("it answered with status {}, but not as a node does", answer.status);
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
    if (!answer) return {.why = clean_utf8(answer.error().what(), text_characters_max)};
    boost::system::error_code wrong;
    const auto body = json::parse(answer->body, wrong);
    const auto* const fields = wrong ? nullptr : body.if_object();
    // A node that does not have a message answers so; other servers have other words for 404.
    const auto* const code = fields ? fields->if_contains("error") : nullptr;
    if (answer->status == 404 && code && *code == "not_found") return {};
    if (answer->status != 200) return {.why = why_refused(*answer, body)};
    const auto* const list = fields ? fields->if_contains("messages") : nullptr;
    node_hits found;
    if (list && list->is_array()) {
        for (const auto& each : list->as_array())
            if (auto hit = hit_of(node, each); !hit.empty() && found.messages.size() < hits_max)
                found.messages.push_back(std::move(hit));
        const auto* const next = fields->if_contains("next");
        found.more = next && !next->is_null();
        return found;
    }
    auto hit = hit_of(node, body);
    if (hit.empty()) return {.why = why_refused(*answer, {})};
    found.messages.push_back(std::move(hit));
    return found;
}

result<json::object> read_message(std::string_view node, const result<http_response>& answer) {
    if (!answer)
        return fail(error_code::unreachable, "'{}' does not answer: {}", node,
                    answer.error().what());
    boost::system::error_code wrong;
    auto body = json::parse(answer->body, wrong);
    if (wrong) body = nullptr;
    const auto* const code = body.is_object() ? body.as_object().if_contains("error") : nullptr;
    if (answer->status == 404 && code && *code == "not_found")
        return fail(error_code::not_found, "'{}' has no such message", node);
    if (answer->status != 200 || hit_of(node, body).empty())
        return fail(error_code::unreachable, "'{}' did not show the message: {}", node,
                    why_refused(*answer, body));
    auto& message = body.as_object();
    message.erase("payload");
    message.erase("headers");
    return std::move(message);
}

}  // namespace posthorn
