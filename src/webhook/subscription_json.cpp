#include "webhook/subscription_json.hpp"

#include <algorithm>
#include <array>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

void set(json::object& into, std::string_view name, std::string_view value) {
    if (!value.empty()) into[name] = clean_utf8(value, 4000);
}

void set_object(json::object& into, std::string_view name, std::string_view text) {
    boost::system::error_code wrong;
    auto read = json::parse(text, wrong);
    if (!wrong && read.is_object()) into[name] = std::move(read);
}

constexpr std::array attempt_states{"pending", "success", "failed", "dead"};

result<std::string> text_of(const json::value& value, std::string_view name) {
    if (!value.is_string()) return fail(error_code::invalid_argument, "{} is a text", name);
    return std::string(value.as_string());
}

// The command line has no other way to say it than as a text.
result<std::string> object_of(const json::value& value, std::string_view name) {
    if (value.is_null()) return std::string{};
    if (value.is_string()) return std::string(value.as_string());
    if (value.is_object()) return json::serialize(value);
    return fail(error_code::invalid_argument, "{} is a JSON object", name);
}

result<std::int64_t> number_of(const json::value& value, std::string_view name) {
    if (!value.is_int64()) return fail(error_code::invalid_argument, "{} is a whole number", name);
    return value.as_int64();
}

template <std::string subscription::* Member>
result<> read_text(const json::value& value, subscription& into, std::string_view name) {
    POSTHORN_LET(text, text_of(value, name));
    into.*Member = std::move(text);
    return {};
}

result<> read_field(std::string_view name, const json::value& value, subscription& into,
                    std::string& secret) {
    if (name == "url") return read_text<&subscription::url>(value, into, name);
    if (name == "eventType") return read_text<&subscription::event_type>(value, into, name);
    if (name == "tenant") return read_text<&subscription::tenant>(value, into, name);
    if (name == "description") return read_text<&subscription::description>(value, into, name);
    if (name == "secret") {
        POSTHORN_LET(text, text_of(value, name));
        secret = std::move(text);
        return {};
    }
    if (name == "headers" || name == "filter") {
        POSTHORN_LET(text, object_of(value, name));
        (name == "headers" ? into.headers : into.filter) = std::move(text);
        return {};
    }
    if (name == "maxRetries" || name == "timeoutSeconds") {
        POSTHORN_LET(number, number_of(value, name));
        const auto bounded = std::clamp<std::int64_t>(number, -1, 1'000'000);
        if (name == "maxRetries")
            into.max_retries = static_cast<std::int32_t>(bounded);
        else
            into.timeout = std::chrono::seconds(bounded);
        return {};
    }
    if (name == "style") {
        POSTHORN_LET(text, text_of(value, name));
        const auto style = parse_webhook_style(text);
        if (!style) return fail(error_code::invalid_argument, "style is standard, outbox or both");
        into.style = *style;
        return {};
    }
    if (name == "form") {
        POSTHORN_LET(text, text_of(value, name));
        const auto form = parse_webhook_form(text);
        if (!form) return fail(error_code::invalid_argument, "form is envelope, raw or thin");
        into.form = *form;
        return {};
    }
    return fail(error_code::invalid_argument,
                "'{}' is not known of a subscription; there are url, eventType, tenant, secret,"
                " style, form, maxRetries, timeoutSeconds, headers, filter and description",
                clean_utf8(name, 100));
}

}  // namespace

json::object to_json(const subscription& one) {
    json::object shown{{"id", one.id.to_string()},
                       {"state", to_string(one.state)},
                       {"eventType", clean_utf8(one.event_type, 256)},
                       {"url", clean_utf8(one.url, 2048)},
                       {"style", to_string(one.style)},
                       {"form", to_string(one.form)},
                       {"maxRetries", one.max_retries},
                       {"timeoutSeconds", one.timeout.count()},
                       {"createdAt", to_iso8601(one.created_at)}};
    set(shown, "tenant", one.tenant);
    set(shown, "reason", one.reason);
    set(shown, "description", one.description);
    set_object(shown, "headers", one.headers);
    set_object(shown, "filter", one.filter);
    if (one.is_configured || one.is_given) {
        shown["configured"] = true;
        if (one.is_default) shown["tenant"] = "default";
    }
    if (one.updated_at) shown["updatedAt"] = to_iso8601(*one.updated_at);
    if (one.previous_until) shown["previousSecretUntil"] = to_iso8601(*one.previous_until);
    return shown;
}

json::object to_json(const webhook_attempt& one) {
    json::object shown{{"deliveryId", one.id.to_string()},
                       {"messageId", one.event.to_string()},
                       {"attempt", one.number},
                       {"state", attempt_states[static_cast<std::size_t>(one.what)]},
                       {"at", to_iso8601(one.at)},
                       {"tookMs", one.took_ms}};
    if (one.http_status) shown["httpStatus"] = *one.http_status;
    set(shown, "answer", one.answer);
    set(shown, "error", one.error);
    return shown;
}

result<> read_subscription(std::string_view body, subscription& into, std::string& secret,
                           std::string* wrong_field) {
    boost::system::error_code wrong;
    const auto read = json::parse(body, wrong);
    const auto* const fields = wrong ? nullptr : read.if_object();
    if (fields == nullptr)
        return fail(error_code::malformed_request, "the body is not a JSON object");
    for (const auto& [name, value] : *fields) {
        auto done = read_field(name, value, into, secret);
        if (done) continue;
        if (wrong_field != nullptr) *wrong_field = clean_utf8(name, 100);
        return done;
    }
    return {};
}

}  // namespace posthorn
