#include "operations/dead_requests.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include <fmt/ranges.h>

#include <posthorn/json/reader.hpp>

#include "base/text/url_query.hpp"
#include "base/text/utf8.hpp"
#include "operations/query.hpp"

namespace posthorn {
namespace {

constexpr std::size_t shown_characters_max = 64;
constexpr std::size_t reason_bytes_max = 4000;
constexpr std::chrono::milliseconds time_to_live_min = std::chrono::seconds{1};
constexpr std::chrono::milliseconds time_to_live_max = std::chrono::days{3653};

std::string shown(std::string_view text) { return clean_utf8(text, shown_characters_max); }

result<> read_status(std::string_view value, dead_filter& into) {
    const auto status = parse_outbox_status(value);
    if (status && *status != outbox_status::pending && *status != outbox_status::sent) {
        into.status = *status;
        return {};
    }
    return fail(error_code::invalid_argument, "status '{}' is none of Dead, Expired, Resolved",
                shown(value));
}

result<> read_one(std::string_view name, std::string_view value, dead_query& into) {
    auto& wanted = into.wanted;
    if (name == "status") return read_status(value, wanted);
    if (name == "since") return read_time(name, value, wanted.since);
    if (name == "until") return read_time(name, value, wanted.until);
    if (name == "cause") return read_number(name, value, wanted.cause);
    if (name == "before") return read_number(name, value, into.before);
    if (name == "after") return read_number(name, value, into.after);
    if (name == "limit") return read_number(name, value, into.limit);
    struct text_field {
        std::string_view name;
        std::string& into;
    };
    const std::array<text_field, 7> texts{{{"destination", wanted.destination},
                                           {"endpoint", wanted.endpoint},
                                           {"correlationId", wanted.correlation_id},
                                           {"causationId", wanted.causation_id},
                                           {"tenant", wanted.tenant},
                                           {"orderKey", wanted.order_key},
                                           {"error", wanted.error}}};
    if (const auto text = std::ranges::find(texts, name, &text_field::name); text != texts.end()) {
        if (value.empty())  // A script's variable that was not set must not mean everything.
            return fail(error_code::invalid_argument, "{} is empty; name one, or leave it out",
                        name);
        text->into = value;
        return {};
    }
    if (name == "all" && value == "true") {
        into.all = true;
        return {};
    }
    if (name == "database" && (value == "inbox" || value == "main")) {
        into.of_inbox = value == "inbox";
        return {};
    }
    return fail(error_code::invalid_argument,
                "'{}' cannot be asked for; use status, destination, endpoint, correlationId, "
                "causationId, tenant, orderKey, error, cause, since, until, before, after, limit, "
                "all=true, or database=inbox",
                shown(name));
}

std::span<const std::string_view> named_fields(dead_verb verb) {
    static constexpr std::array<std::string_view, 2> requeue{"newId", "expiresInMs"};
    static constexpr std::array<std::string_view, 1> resolve{"reason"};
    static constexpr std::array<std::string_view, 9> edit{
        "payload",    "headers", "endpoint", "destination", "contentType",
        "maxRetries", "requeue", "newId",    "expiresInMs"};
    switch (verb) {
        case dead_verb::requeue: return requeue;
        case dead_verb::resolve: return resolve;
        case dead_verb::edit: return edit;
        case dead_verb::remove:
        case dead_verb::reopen: break;
    }
    return {};
}

void read_field(std::string_view name, json_reader& value, dead_request& into) {
    auto& edit = into.edit;
    if (name == "newId")
        into.how.new_id = value.boolean();
    else if (name == "expiresInMs")
        into.how.expires_in = std::chrono::milliseconds(
            value.integer(time_to_live_min.count(), time_to_live_max.count()));
    else if (name == "reason")
        into.how.resolution = value.string();
    else if (name == "requeue")
        into.then_requeue = value.boolean();
    else if (name == "maxRetries")
        edit.max_retries = static_cast<std::int32_t>(
            value.integer(retry_for_ever, std::numeric_limits<std::int32_t>::max()));
    else if (name == "payload")
        edit.payload.emplace(value.string());
    else if (name == "headers")
        edit.headers.emplace(value.is_null() ? std::string_view() : value.string());
    else if (name == "endpoint")
        edit.endpoint.emplace(value.string());
    else if (name == "destination")
        edit.destination.emplace(value.string());
    else
        edit.content_type.emplace(value.string());
}

result<> check(const dead_request& asked) {
    const auto refuse = [](std::string_view what) {
        return fail(error_code::invalid_argument, "{}", what);
    };
    if (asked.verb == dead_verb::resolve && asked.how.resolution.empty())
        return refuse("say why it is resolved: {\"reason\": \"paid by hand\"}");
    if (asked.how.resolution.size() > reason_bytes_max)
        return refuse("a reason has 4,000 bytes at most");
    if (asked.verb == dead_verb::edit && asked.edit.empty())
        return refuse(
            "say what is to change: payload, headers, endpoint, destination, contentType or "
            "maxRetries");
    if (asked.verb == dead_verb::edit && asked.how.new_id && !asked.then_requeue)
        return refuse("a new id goes with a requeue; add \"requeue\": true");
    if (asked.how.expires_in.count() != 0 && !asked.how.new_id)
        return refuse(
            "a new time to live goes with a new id, since the receiver may forget the old id when "
            "that expires; add --new-id, or \"newId\": true");
    return {};
}

}  // namespace

result<dead_query> parse_dead_query(std::string_view query, wall_time now) {
    dead_query asked;
    POSTHORN_TRY(for_each_parameter(query, [&](std::string_view name, std::string_view value) {
        return read_one(name, value, asked);
    }));
    POSTHORN_TRY(check_page(asked.limit));
    POSTHORN_TRY(check_times({.since = asked.wanted.since, .until = asked.wanted.until}, now));
    return asked;
}

result<dead_query> parse_groups_query(std::string_view query) {
    static constexpr std::array<std::string_view, 3> known{"destination", "limit", "database"};
    dead_query asked;
    POSTHORN_TRY(
        for_each_parameter(query, [&](std::string_view name, std::string_view value) -> result<> {
            if (std::ranges::find(known, name) != known.end()) return read_one(name, value, asked);
            return fail(error_code::invalid_argument,
                        "'{}' cannot be asked for of groups; use destination, limit, or "
                        "database=inbox",
                        shown(name));
        }));
    POSTHORN_TRY(check_page(asked.limit));
    return asked;
}

std::string_view to_string(dead_verb verb) noexcept {
    static constexpr std::array<std::string_view, 5> names{"requeue", "resolve", "delete", "reopen",
                                                           "edit"};
    return names[static_cast<std::size_t>(verb)];
}

result<dead_request> parse_dead_request(dead_verb verb, std::string_view body) {
    dead_request asked{.verb = verb};
    if (verb != dead_verb::edit) asked.how.what = static_cast<dead_action>(verb);
    const auto known = named_fields(verb);
    std::string unknown;
    try {
        if (!body.empty())
            json_reader::read(body, [&](json_reader& document) {
                document.members([&](std::string_view name, json_reader& value) {
                    if (std::ranges::find(known, name) != known.end())
                        return read_field(name, value, asked);
                    unknown = shown(name);
                    value.skip();
                });
            });
    } catch (const error& why) {
        return fail(error_code::malformed_request, "the body cannot be read: {}", why.what());
    }
    if (!unknown.empty())
        return fail(error_code::invalid_argument,
                    "the field '{}' is not known to {}; there are: {}", unknown, to_string(verb),
                    fmt::join(known, ", "));
    POSTHORN_TRY(check(asked));
    return asked;
}

}  // namespace posthorn
