#include "app/cli/kit/list_query.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text/percent.hpp"

namespace posthorn::cli {

namespace {

std::string narrowed(std::string query, const list_choice& wanted) {
    const auto add = [&query](std::string_view name, std::string_view value) {
        if (value.empty()) return;
        if (!query.empty()) query += '&';
        query += fmt::format("{}={}", name, percent_encode(value));
    };
    add("status", wanted.status);
    add("destination", wanted.destination);
    add("endpoint", wanted.endpoint);
    add("correlationId", wanted.correlation_id);
    add("causationId", wanted.causation_id);
    add("error", wanted.error);
    add("tenant", wanted.tenant);
    add("orderKey", wanted.order_key);
    add("source", wanted.source);
    add("messageId", wanted.message_id);
    add("state", wanted.state);
    add("since", wanted.since);
    add("until", wanted.until);
    return query;
}

}  // namespace

std::string to_query(const list_choice& wanted) {
    auto query = narrowed(fmt::format("limit={}", wanted.limit), wanted);
    if (wanted.before > 0) query += fmt::format("&before={}", wanted.before);
    return query;
}

std::string narrowing_query(const list_choice& wanted) {
    const auto query = narrowed({}, wanted);
    return query.empty() ? query : "?" + query;
}

std::string to_query(const dead_choice& wanted) {
    std::string query = fmt::format("limit={}", wanted.limit);
    const auto add = [&query](std::string_view name, std::string_view value) {
        if (!value.empty()) query += fmt::format("&{}={}", name, percent_encode(value));
    };
    const auto add_number = [&query](std::string_view name, std::int64_t value) {
        if (value > 0) query += fmt::format("&{}={}", name, value);
    };
    add("status", wanted.status);
    add("destination", wanted.destination);
    add("endpoint", wanted.endpoint);
    add("correlationId", wanted.correlation_id);
    add("causationId", wanted.causation_id);
    add("tenant", wanted.tenant);
    add("orderKey", wanted.order_key);
    add("error", wanted.error);
    add("since", wanted.since);
    add("until", wanted.until);
    add_number("cause", wanted.cause);
    add_number("before", wanted.before);
    add_number("after", wanted.after);
    return query;
}

}  // namespace posthorn::cli
