#include "operations/query.hpp"

#include <charconv>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "transport/http/types.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 64;

std::string shown(std::string_view text) { return clean_utf8(text, shown_characters_max); }

result<> read_status(std::string_view value, list_query& into) {
    into.status = parse_outbox_status(value);
    if (into.status) return {};
    return fail(error_code::invalid_argument,
                "status '{}' is none of Pending, Sent, Dead, Expired, Resolved", shown(value));
}

result<> read_one(std::string_view name, std::string_view value, list_query& into) {
    if (name == "status") return read_status(value, into);
    if (name == "since") return read_time(name, value, into.since);
    if (name == "until") return read_time(name, value, into.until);
    if (name == "before") return read_number(name, value, into.before);
    if (name == "limit") return read_number(name, value, into.limit);
    if (name == "destination") {
        into.destination = value;
    } else if (name == "endpoint") {
        into.endpoint = value;
    } else if (name == "correlationId") {
        into.correlation_id = value;
    } else if (name == "causationId") {
        into.causation_id = value;
    } else if (name == "error") {
        into.error = value;
    } else if (name == "tenant") {
        into.tenant = value;
    } else if (name == "orderKey") {
        into.order_key = value;
    } else if (name == "database" && (value == "inbox" || value == "main")) {
        into.of_inbox = value == "inbox";
    } else {
        return fail(error_code::invalid_argument,
                    "'{}' cannot be asked for; use status, destination, endpoint, correlationId, "
                    "causationId, tenant, orderKey, error, since, until, before, limit, or "
                    "database=inbox",
                    shown(name));
    }
    return {};
}

result<> read_inbox_state(std::string_view value, inbox_query& into) {
    into.processed = value == "processed";
    if (*into.processed || value == "at work") return {};
    return fail(error_code::invalid_argument, "state '{}' is none of processed, at work",
                shown(value));
}

result<> read_id(std::string_view value, inbox_query& into) {
    into.message_id = uuid::parse(value);
    if (into.message_id) return {};
    return fail(error_code::invalid_argument, "messageId is '{}'; give a UUID", shown(value));
}

template <class T>
result<> read_positive(std::string_view name, std::string_view text, T& into) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (failure == std::errc{} && end == text.data() + text.size() && into > 0) return {};
    return fail(error_code::invalid_argument, "{} is '{}'; give a number above zero", name,
                shown(text));
}

}  // namespace

result<> read_number(std::string_view name, std::string_view text, std::int64_t& into) {
    return read_positive(name, text, into);
}

result<> read_number(std::string_view name, std::string_view text, std::size_t& into) {
    return read_positive(name, text, into);
}

result<> check_page(std::size_t limit) {
    if (limit > list_rows_max)
        return fail(error_code::invalid_argument, "limit is {}; a page has {} rows at most", limit,
                    list_rows_max);
    return {};
}

result<list_query> parse_list_query(std::string_view query, wall_time now) {
    list_query asked;
    POSTHORN_TRY(for_each_parameter(query, [&](std::string_view name, std::string_view value) {
        return read_one(name, value, asked);
    }));
    POSTHORN_TRY(check_page(asked.limit));
    POSTHORN_TRY(check_times({.since = asked.since, .until = asked.until}, now));
    return asked;
}

result<inbox_query> parse_inbox_query(std::string_view query, wall_time now) {
    inbox_query asked;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, std::string_view value) -> result<> {
            if (name == "before") return read_number(name, value, asked.before);
            if (name == "limit") return read_number(name, value, asked.limit);
            if (name == "since") return read_time(name, value, asked.since);
            if (name == "until") return read_time(name, value, asked.until);
            if (name == "state") return read_inbox_state(value, asked);
            if (name == "messageId") return read_id(value, asked);
            if (name == "endpoint")
                asked.endpoint = value;
            else if (name == "source")
                asked.source = value;
            else
                return fail(error_code::invalid_argument,
                            "'{}' cannot be asked for of what was taken in; use source, endpoint, "
                            "messageId, state, since, until, before or limit",
                            shown(name));
            return {};
        }));
    POSTHORN_TRY(check_page(asked.limit));
    POSTHORN_TRY(check_times({.since = asked.since, .until = asked.until}, now));
    return asked;
}

result<inbox_query> parse_failed_query(std::string_view query) {
    inbox_query asked;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, std::string_view value) -> result<> {
            if (name == "messageId") return read_id(value, asked);
            if (name == "source")
                asked.source = value;
            else if (name == "endpoint")
                asked.endpoint = value;
            else if (name == "error")
                asked.error = value;
            else
                return fail(error_code::invalid_argument,
                            "'{}' cannot be asked for of what was not taken in; use source, "
                            "endpoint, messageId or error",
                            shown(name));
            return {};
        }));
    return asked;
}

result<bool> parse_show_query(std::string_view query) {
    bool payload = false;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, std::string_view value) -> result<> {
            if (name != "payload" || (value != "true" && value != "false"))
                return fail(error_code::invalid_argument,
                            "'{}' cannot be asked for; use payload=true", shown(name));
            payload = value == "true";
            return {};
        }));
    return payload;
}

}  // namespace posthorn
