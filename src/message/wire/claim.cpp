#include "message/wire/claim.hpp"

#include <array>

#include "message/fields.hpp"
#include "message/wire/names.hpp"

namespace posthorn {
namespace {

enum field : std::uint8_t { id, source, endpoint, payload, headers, count };

constexpr std::array<std::string_view, field::count> field_names{
    "messageId", "sourceServiceId", "endpoint", "payload", "headers",
};

void read_headers(json_reader& from, envelope_claim& into) {
    if (from.is_null()) return;
    bool has_hmac = false;
    from.members([&](std::string_view name, json_reader& value) {
        const bool is_hmac = name == wire_names::hmac;
        if ((!is_hmac && name != wire_names::timestamp) || value.is_null()) return value.skip();
        if (is_hmac && has_hmac) value.fail("is there twice");
        has_hmac |= is_hmac;
        (is_hmac ? into.hmac : into.timestamp) = value.string();
    });
}

void read_field(std::size_t index, json_reader& value, envelope_claim& into) {
    switch (index) {
        case field::id: into.message_id = value.string(); return;
        case field::source: into.source = value.string(); return;
        case field::endpoint: into.endpoint = value.string(); return;
        case field::payload: into.payload = trimmed(value.document()); return;
        case field::headers: return read_headers(value, into);
        default: value.skip();
    }
}

}  // namespace

result<envelope_claim> read_claim(std::string_view json) {
    try {
        envelope_claim read;
        seen_fields seen(field_names);
        json_reader::read(json, [&](json_reader& from) {
            from.members([&](std::string_view key, json_reader& value) {
                read_field(seen.take(key, value), value, read);
            });
            for (const auto index : {field::id, field::source, field::endpoint})
                if (!seen.has(index)) fail_at({&from.path(), field_names[index]}, "is missing");
        });
        return read;
    } catch (const error& why) {
        return std::unexpected(as_malformed(why, {}));
    }
}

}  // namespace posthorn
