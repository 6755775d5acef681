#include "message/validate.hpp"

#include <algorithm>
#include <string_view>

#include "base/utf8.hpp"
#include "message/json_check.hpp"

namespace posthorn {
namespace {

struct text_field {
    std::string_view name;
    std::string_view value;
    std::size_t size_max = 0;
    bool required = false;
};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

result<> check_text(const text_field& field) {
    if (field.required && field.value.empty())
        return fail(error_code::invalid_argument, "a message needs its {}, which is empty",
                    field.name);
    if (field.value.size() > field.size_max)
        return fail(error_code::invalid_argument, "the {} has {} bytes; at most {} are allowed",
                    field.name, field.value.size(), field.size_max);
    // These travel in headers and in log lines, where a line end could start another one.
    if (std::ranges::any_of(field.value, is_control))
        return fail(error_code::invalid_argument, "the {} holds a control character", field.name);
    if (!is_utf8(field.value))
        return fail(error_code::invalid_argument, "the {} is not UTF-8", field.name);
    return {};
}

result<> check_size(std::string_view name, std::size_t size, std::size_t size_max) {
    if (size <= size_max) return {};
    return fail(error_code::message_too_large,
                "the {} have {} bytes and at most {} are allowed; send a reference to the content "
                "instead",
                name, size, size_max);
}

result<> check_json_of(const message& what) {
    if (is_json_type(what.content_type))
        if (const auto checked = check_json(what.payload); !checked)
            return fail(error_code::invalid_payload,
                        "the payload says it is application/json, but {}; mend it or give its "
                        "content type",
                        checked.error().what());
    if (!what.headers.empty())
        if (const auto checked = check_json(what.headers, json_kind::object); !checked)
            return fail(error_code::invalid_payload,
                        "headers are a JSON object or left out, but {}", checked.error().what());
    return {};
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
    const text_field fields[] = {
        {"source", what.source, limits.name_size_max, true},
        {"destination", what.destination, limits.name_size_max, true},
        {"endpoint", what.endpoint, limits.name_size_max, true},
        {"content type", what.content_type, limits.name_size_max, true},
        {"correlation id", what.correlation_id, limits.text_size_max},
        {"tenant", what.tenant, limits.text_size_max},
        {"order key", what.order_key, limits.text_size_max},
        {"dedupe key", what.dedupe_key, limits.text_size_max},
    };
    for (const auto& field : fields) POSTHORN_TRY(check_text(field));
    if (what.id.is_nil()) return fail(error_code::invalid_argument, "the nil id names no message");
    POSTHORN_TRY(
        check_size("contents of the payload", what.payload.size(), limits.payload_size_max));
    return check_size("headers", what.headers.size(), limits.headers_size_max);
}

result<> validate(const message& what, const message_limits& limits) {
    POSTHORN_TRY(validate_outside(what, limits));
    if (what.expires_at <= what.created_at)
        return fail(error_code::message_expired,
                    "the message would expire before it is sent; give it a longer time to live");
    if (what.max_retries < retry_for_ever)
        return fail(error_code::invalid_argument, "max_retries is {}; -1 means for ever",
                    what.max_retries);
    return check_json_of(what);
}

}  // namespace posthorn
