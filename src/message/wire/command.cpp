#include "message/wire/command.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "message/fields.hpp"
#include "message/wire/names.hpp"

namespace posthorn {
namespace {

enum field : std::uint8_t { message_id, command_id, call_id, payload, correlation, count };

constexpr std::array<std::string_view, field::count> field_names{
    "messageId", "commandId", "callId", "payload", "correlationId",
};

struct command {
    bool is_envelope = false;
    std::optional<uuid> id{};
    std::optional<std::string> payload{};
    std::string correlation_id{};
};

void read_id(json_reader& value, command& into) {
    const auto id = uuid::parse(value.string());
    if (!id) value.fail("is not a UUID");
    if (into.id && *into.id != *id) value.fail("is another id than the one before");
    into.id = id;
}

command read_fields(std::string_view json) {
    command read;
    seen_fields seen(field_names);
    json_reader::read(json, [&](json_reader& from) {
        from.members([&](std::string_view key, json_reader& value) {
            switch (seen.take(key, value)) {
                case field::command_id:
                case field::call_id: return read_id(value, read);
                case field::payload: read.payload = trimmed(value.document()); return;
                case field::correlation: read.correlation_id = text_or_null(value); return;
                default: return value.skip();
            }
        });
        read.is_envelope = seen.has(field::message_id);
        if (!read.is_envelope && !read.id)
            fail_at({&from.path(), field_names[field::command_id]}, "is missing");
    });
    return read;
}

result<message> read_whole(std::string_view json, const command_place& place,
                           const envelope_rules& rules) {
    auto read = read_envelope(json, rules);
    if (read && read->endpoint != place.endpoint)
        return fail(error_code::malformed_request,
                    "endpoint is another one than that of the path it was posted to");
    return read;
}

}  // namespace

result<message> read_command(std::string_view json, const command_place& place,
                             const envelope_rules& rules) {
    try {
        auto read = read_fields(json);
        if (read.is_envelope) return read_whole(json, place, rules);
        message made;
        made.id = *read.id;
        made.source = place.source;
        made.destination = rules.destination;
        made.endpoint = place.endpoint;
        made.payload = read.payload ? *std::move(read.payload) : std::string(json);
        made.correlation_id = std::move(read.correlation_id);
        // A command without an envelope says when it was made by its id, if at all. So one that is
        // repeated when the inbox may have forgotten it has expired.
        made.created_at = std::min(rules.now, made.id.time().value_or(rules.now));
        made.expires_at = made.created_at + wire_names::life_default;
        POSTHORN_TRY(validate_outside(made, rules.limits));
        return made;
    } catch (const error& why) {
        return std::unexpected(as_malformed(why, {}));
    }
}

}  // namespace posthorn
