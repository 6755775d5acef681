#include "message/validate.hpp"

#include <algorithm>
#include <string_view>

#include "base/text/utf8.hpp"
#include "message/json_check.hpp"

namespace posthorn {
namespace {

constexpr std::int32_t priority_max = 9;

struct text_field {
    std::string_view name;
    std::string_view value;
    std::size_t size_max = 0;
    std::string_view key;
    bool required = false;
};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

result<> check_text(const text_field& field) {
    if (field.required && field.value.empty())
        return fail(error_code::invalid_argument, "a message needs its {}, which is empty",
                    field.name);
    if (field.value.size() > field.size_max)
        return fail(error_code::invalid_argument,
                    "the {} has {} bytes; at most {} are allowed ({})", field.name,
                    field.value.size(), field.size_max, field.key);
    // These travel in headers and in log lines, where a line end could start another one.
    if (std::ranges::any_of(field.value, is_control))
        return fail(error_code::invalid_argument, "the {} holds a control character", field.name);
    if (!is_utf8(field.value))
        return fail(error_code::invalid_argument, "the {} is not UTF-8", field.name);
    return {};
}

result<> check_size(const text_field& field) {
    if (field.value.size() <= field.size_max) return {};
    return fail(error_code::message_too_large,
                "the {} have {} bytes and at most {} are allowed ({}); send a reference to the "
                "content instead",
                field.name, field.value.size(), field.size_max, field.key);
}

result<> check_json_of(const message& what, json_nesting nesting) {
    if (is_json_type(what.content_type))
        if (const auto checked = check_json(what.payload, json_kind::any, nesting); !checked)
            return fail(error_code::invalid_payload,
                        "the payload says it is application/json, but {}; mend it or give its "
                        "content type",
                        checked.error().what());
    if (!what.headers.empty())
        if (const auto checked = check_json(what.headers, json_kind::object, nesting); !checked)
            return fail(error_code::invalid_payload,
                        "headers are a JSON object or left out, but {}", checked.error().what());
    return {};
}

// A time near the message's own, if it is taken for seconds.
bool looks_like_seconds(const message& what) {
    constexpr std::int64_t year = std::chrono::seconds{std::chrono::years{1}}.count();
    const auto expires = what.expires_at.time_since_epoch().count();
    const auto created = what.created_at.time_since_epoch().count() / 1000;
    return expires > created - year && expires < created + 20 * year;
}

}  // namespace

bool is_json_type(std::string_view content_type) noexcept {
    const auto media = content_type.substr(0, content_type.find(';'));
    constexpr std::string_view json = "application/json";
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    const auto end = media.find_last_not_of(' ');
    return std::ranges::equal(media.substr(0, end + 1), json, same);
}

result<> validate_outside(const message& what, const message_limits& limits) {
    const auto name = limits.name_size_max;
    const auto text = limits.text_size_max;
    const text_field fields[] = {
        {"source", what.source, name, "limits.name", true},
        {"destination", what.destination, name, "limits.name", true},
        {"endpoint", what.endpoint, name, "limits.name", true},
        {"content type", what.content_type, name, "limits.name", true},
        {"correlation id", what.correlation_id, text, "limits.text"},
        {"tenant", what.tenant, text, "limits.text"},
        {"order key", what.order_key, text, "limits.text"},
        {"dedupe key", what.dedupe_key, text, "limits.text"},
    };
    for (const auto& field : fields) POSTHORN_TRY(check_text(field));
    if (what.id.is_nil()) return fail(error_code::invalid_argument, "the nil id names no message");
    POSTHORN_TRY(check_size(
        {"contents of the payload", what.payload, limits.payload_size_max, "limits.payload"}));
    POSTHORN_TRY(
        check_size({"headers", what.headers, limits.headers_size_max, "limits.message_headers"}));
    // Reading the JSON has checked the default.
    if (limits.depth_max == json_depth_max) return {};
    return check_json_of(what, {.depth_max = limits.depth_max});
}

result<> validate(const message& what, const message_limits& limits) {
    POSTHORN_TRY(validate_outside(what, limits));
    if (what.expires_at <= what.created_at)
        return fail(error_code::message_expired, "the message would expire before it is sent; {}",
                    looks_like_seconds(what)
                        ? "its expires_at looks like seconds: write milliseconds since 1970"
                        : "give it a longer time to live");
    if (what.max_retries < retry_for_ever)
        return fail(error_code::invalid_argument, "max_retries is {}; -1 means for ever",
                    what.max_retries);
    if (what.priority < 0 || what.priority > priority_max)
        return fail(error_code::invalid_argument,
                    "the priority is {}; it goes from 0, the default, to {}, which is first",
                    what.priority, priority_max);
    return check_json_of(what, {.depth_max = limits.depth_max});
}

}  // namespace posthorn
