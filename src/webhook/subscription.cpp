#include "webhook/subscription.hpp"

#include <algorithm>
#include <array>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/text/http_url.hpp"
#include "base/text/utf8.hpp"
#include "transport/http/guarded/custom_headers.hpp"

namespace posthorn {
namespace {

namespace json = boost::json;

constexpr std::size_t url_bytes_max = 2048;
constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t filter_bytes_max = 16 * 1024;
constexpr std::size_t rules_max = 16;
constexpr std::size_t values_max = 64;

template <class Enum, std::size_t N>
std::optional<Enum> parse_one(std::string_view text, const std::array<std::string_view, N>& names) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

constexpr std::array<std::string_view, 3> states{"active", "paused", "disabled"};
constexpr std::array<std::string_view, 3> styles{"standard", "outbox", "both"};
constexpr std::array<std::string_view, 3> forms{"envelope", "raw", "thin"};

result<json::object> parse_object(std::string_view text, std::string_view what) {
    boost::system::error_code wrong;
    auto read = json::parse(text, wrong);
    if (wrong || !read.is_object())
        return fail(error_code::invalid_argument, "{} is not a JSON object", what);
    return std::move(read.as_object());
}

bool is_pattern(std::string_view text) {
    if (text == "*") return true;
    if (text.ends_with(".*")) text.remove_suffix(2);
    return is_event_type(text) && !text.contains('*');
}

result<> check_type(const subscription& one, bool /*plain_http*/) {
    if (is_pattern(one.event_type)) return {};
    return fail(error_code::invalid_argument,
                "'{}' is not a type of events; write one such as order.paid, order.* for all "
                "that begin so, or * for every one",
                clean_utf8(one.event_type, 100));
}

result<> check_url(const subscription& one, bool plain_http) {
    if (one.url.size() > url_bytes_max)
        return fail(error_code::invalid_argument, "the URL has {} bytes; at most {} are allowed",
                    one.url.size(), url_bytes_max);
    const auto url = parse_http_url(one.url);
    if (!url || (!plain_http && !one.url.starts_with("https:")))
        return fail(error_code::invalid_argument,
                    "the URL is not one that can be called; write it as https://host/path");
    return {};
}

result<> check_tenant(const subscription& one, bool /*plain_http*/) {
    if (one.tenant.size() <= name_bytes_max && is_utf8(one.tenant)) return {};
    return fail(error_code::invalid_argument, "a tenant has at most {} bytes of UTF-8",
                name_bytes_max);
}

result<> check_description(const subscription& one, bool /*plain_http*/) {
    if (one.description.size() <= 1000 && is_utf8(one.description)) return {};
    return fail(error_code::invalid_argument, "a description has at most 1000 bytes of UTF-8");
}

result<> check_retries(const subscription& one, bool /*plain_http*/) {
    if (one.max_retries >= 0 && one.max_retries <= 50) return {};
    return fail(error_code::invalid_argument, "maxRetries cannot be {}; write 0 to 50",
                one.max_retries);
}

result<> check_timeout(const subscription& one, bool /*plain_http*/) {
    if (one.timeout.count() >= 1 && one.timeout.count() <= 120) return {};
    return fail(error_code::invalid_argument, "timeoutSeconds cannot be {}; write 1 to 120",
                one.timeout.count());
}

result<> check_headers(const subscription& one, bool /*plain_http*/) {
    POSTHORN_TRY(parse_custom_headers(one.headers));
    return {};
}

result<> check_filter(const subscription& one, bool /*plain_http*/) {
    POSTHORN_TRY(payload_filter::parse(one.filter));
    return {};
}

struct field_check {
    std::string_view field;  // As the admin API calls it.
    result<> (*check)(const subscription&, bool);
};
constexpr std::array field_checks{
    field_check{"eventType", &check_type},     field_check{"url", &check_url},
    field_check{"tenant", &check_tenant},      field_check{"description", &check_description},
    field_check{"maxRetries", &check_retries}, field_check{"timeoutSeconds", &check_timeout},
    field_check{"headers", &check_headers},    field_check{"filter", &check_filter}};

}  // namespace

bool is_event_type(std::string_view text) {
    return !text.empty() && text.size() <= name_bytes_max && is_utf8(text) &&
           std::ranges::none_of(text,
                                [](unsigned char c) { return c < 0x20 || c == 0x7f || c == ' '; });
}

std::string_view to_string(subscription_state state) noexcept {
    return states[static_cast<std::size_t>(state)];
}
std::string_view to_string(webhook_style style) noexcept {
    return styles[static_cast<std::size_t>(style)];
}
std::string_view to_string(webhook_form form) noexcept {
    return forms[static_cast<std::size_t>(form)];
}
std::optional<subscription_state> parse_subscription_state(std::string_view text) {
    return parse_one<subscription_state>(text, states);
}
std::optional<webhook_style> parse_webhook_style(std::string_view text) {
    return parse_one<webhook_style>(text, styles);
}
std::optional<webhook_form> parse_webhook_form(std::string_view text) {
    return parse_one<webhook_form>(text, forms);
}

std::string destination_of(const uuid& subscription) {
    return std::string(lane_prefix) + subscription.to_string();
}

std::optional<uuid> subscription_of(std::string_view destination) {
    if (!destination.starts_with(lane_prefix)) return std::nullopt;
    return uuid::parse(destination.substr(lane_prefix.size()));
}

bool covers(std::string_view pattern, std::string_view event_type) {
    if (pattern == "*") return true;
    if (!pattern.ends_with(".*")) return pattern == event_type;
    return event_type.starts_with(pattern.substr(0, pattern.size() - 1));
}

result<payload_filter> payload_filter::parse(std::string_view text) {
    payload_filter made;
    if (text.empty()) return made;
    if (text.size() > filter_bytes_max)
        return fail(error_code::invalid_argument, "the filter has {} bytes; at most {} can be",
                    text.size(), filter_bytes_max);
    POSTHORN_LET(fields, parse_object(text, "the filter"));
    if (fields.size() > rules_max)
        return fail(error_code::invalid_argument, "the filter has {} pointers; at most {} can be",
                    fields.size(), rules_max);
    for (auto& [pointer, values] : fields) {
        if (!pointer.starts_with('/'))
            return fail(error_code::invalid_argument,
                        "'{}' in the filter is not a JSON pointer; write it as /data/country",
                        clean_utf8(pointer, 100));
        if (!values.is_array() || values.as_array().empty() ||
            values.as_array().size() > values_max)
            return fail(error_code::invalid_argument,
                        "'{}' in the filter needs a list of 1 to {} values",
                        clean_utf8(pointer, 100), values_max);
        const auto& listed = values.as_array();
        made.rules_.push_back({pointer, {listed.begin(), listed.end()}});
    }
    return made;
}

bool payload_filter::wants(const json::value& envelope) const {
    return std::ranges::all_of(rules_, [&](const rule& one) {
        boost::system::error_code nowhere;
        const auto* const found = envelope.find_pointer(one.pointer, nowhere);
        return found != nullptr && std::ranges::find(one.values, *found) != one.values.end();
    });
}

result<http_headers> parse_custom_headers(std::string_view text) {
    http_headers made;
    if (text.empty()) return made;
    POSTHORN_LET(fields, parse_object(text, "what is under headers"));
    for (const auto& [name, value] : fields) {
        if (!value.is_string())
            return fail(error_code::invalid_argument, "the header '{}' is not a text",
                        clean_utf8(name, 100));
        made.add(std::string(name), std::string(value.as_string()));
    }
    POSTHORN_TRY(check_custom_headers(made));
    return made;
}

result<> check(const subscription& one, bool plain_http) {
    for (const auto& each : field_checks) POSTHORN_TRY(each.check(one, plain_http));
    return {};
}

std::string_view wrong_field(const subscription& one, bool plain_http) {
    for (const auto& each : field_checks)
        if (!each.check(one, plain_http)) return each.field;
    return {};
}

}  // namespace posthorn
