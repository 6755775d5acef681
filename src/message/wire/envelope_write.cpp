#include <posthorn/json/reader.hpp>
#include <posthorn/json/writer.hpp>

#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "message/compact_json.hpp"
#include "message/wire/envelope.hpp"
#include "message/wire/names.hpp"

namespace posthorn {
namespace {

void put(json_writer& to, std::string_view name, std::string_view text) {
    to.plain_key(name);
    const json_writer::at here(to, name);
    to.string(text);
}

void put_unless_empty(json_writer& to, std::string_view name, std::string_view text) {
    if (!text.empty()) put(to, name, text);
}

void put_time(json_writer& to, std::string_view name, wall_time time) {
    if (time != wall_time{}) put(to, name, to_iso8601(time));
}

/// The application's headers. They are JSON already, so they are taken over as they are unless a
/// name may be one of ours.
void append_application_headers(std::string& out, json_writer& to, std::string_view headers) {
    if (headers.find(wire_names::ours) == std::string_view::npos &&
        headers.find('\\') == std::string_view::npos) {
        const auto first = headers.find_first_not_of(" \t\r\n", headers.find('{') + 1);
        const auto end = headers.rfind('}');
        if (first >= end || end == std::string_view::npos) return;
        out += ',';
        out += headers.substr(first, end - first);
        return;
    }
    json_reader::read(headers, [&](json_reader& whole) {
        whole.members([&](std::string_view name, json_reader& value) {
            if (name.starts_with(wire_names::ours)) return value.skip();
            to.key(name);
            out += value.raw();
        });
    });
}

void append_headers(std::string& out, json_writer& to, const message& what, bool is_text,
                    std::string_view hmac) {
    to.open('{');
    put(to, wire_names::version, "2.0");
    put_time(to, wire_names::timestamp, what.created_at);
    put_unless_empty(to, wire_names::hmac, hmac);
    put_time(to, wire_names::expires_at, what.expires_at);
    if (what.content_type != wire_names::json) put(to, wire_names::content_type, what.content_type);
    if (!is_text) put(to, wire_names::encoding, wire_names::base64);
    put_unless_empty(to, wire_names::tenant, what.tenant);
    put_unless_empty(to, wire_names::order_key, what.order_key);
    if (what.causation_id) put(to, wire_names::causation_id, what.causation_id->to_string());
    if (what.parent_id) put(to, wire_names::parent_id, what.parent_id->to_string());
    if (!what.headers.empty()) append_application_headers(out, to, what.headers);
    to.close('}');
}

bool is_text(const message& what) {
    return is_json_type(what.content_type) || is_utf8(what.payload);
}

void append_payload(std::string& out, json_writer& to, const message& what) {
    // A payload that says it is JSON was checked when it was stored.
    if (is_json_type(what.content_type))
        out += what.payload.empty() ? std::string_view("null") : what.payload;
    else
        to.string(is_text(what) ? what.payload : encode_base64(what.payload));
}

/// A payload that is given stands in the place of the message's own.
void append(std::string& out, const message& what, const envelope_parts& parts) {
    json_writer to(out);
    to.open('{');
    if (parts.is_command) put(to, "commandId", what.id.to_string());
    put(to, "messageId", what.id.to_string());
    put_unless_empty(to, "correlationId", what.correlation_id);
    put(to, "sourceServiceId", what.source);
    put(to, "messageType", to_string(what.type));
    put(to, "endpoint", what.endpoint);
    to.plain_key("payload");
    if (parts.payload.empty())
        append_payload(out, to, what);
    else
        out += parts.payload;
    to.plain_key("headers");
    append_headers(out, to, what, is_text(what), parts.hmac);
    to.close('}');
}

}  // namespace

void append_envelope(std::string& out, const message& what) { append(out, what, {}); }

void append_envelope(std::string& out, const message& what, const envelope_parts& parts) {
    append(out, what, parts);
}

std::string compact_payload(const message& what) {
    std::string written;
    json_writer to(written);
    append_payload(written, to, what);
    return is_json_type(what.content_type) ? compact_json(written) : written;
}

void append_batch(std::string& out, const std::vector<const message*>& batch) {
    out += R"({"messages":[)";
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i > 0) out += ',';
        append_envelope(out, *batch[i]);
    }
    out += "]}";
}

}  // namespace posthorn
