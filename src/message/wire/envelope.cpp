#include "message/wire/envelope.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <posthorn/json/writer.hpp>

#include "base/text/base64.hpp"
#include "message/fields.hpp"
#include "message/wire/names.hpp"
#include "message/wire/split.hpp"

namespace posthorn {
namespace {

enum field : std::uint8_t { id, correlation, source, type, endpoint, payload, headers, count };

constexpr std::array<std::string_view, field::count> field_names{
    "messageId", "correlationId", "sourceServiceId", "messageType",
    "endpoint",  "payload",       "headers",
};
constexpr field required[] = {field::id, field::source, field::type, field::endpoint};

uuid read_uuid(json_reader& from) {
    const auto read = uuid::parse(from.string());
    if (!read) from.fail("is not a UUID");
    return *read;
}

wall_time read_time(json_reader& from) {
    const auto read = parse_iso8601(from.string());
    if (!read) from.fail("is not a time such as 2026-02-14T12:00:00Z");
    return *read;
}

message_type read_type(json_reader& from) {
    const auto read = parse_message_type(from.string());
    if (!read) from.fail("is none of: Signal, Command, PushCall, Response");
    return *read;
}

void check_version(json_reader& from) {
    const auto version = from.string();
    if (version != "2" && !version.starts_with("2."))
        from.fail("is another major version than 2; update the older of the two services");
}

/// Reads one envelope. The payload is understood last, since headers say what it is and may follow
/// it.
class envelope_reader {
public:
    explicit envelope_reader(const envelope_rules& rules) : rules_(rules) {
        read_.destination = rules.destination;
    }

    void read(json_reader& from) {
        seen_fields seen(field_names);
        from.members([&](std::string_view key, json_reader& value) {
            read_field(seen.take(key, value), value);
        });
        for (const auto index : required)
            if (!seen.has(index)) fail_at({&from.path(), field_names[index]}, "is missing");
        read_.created_at = created_at_.value_or(rules_.now);
        if (!expires_at_)
            read_.expires_at = read_.created_at + wire_names::life_default;
        else
            read_.expires_at = *expires_at_;
        const json_path at{&from.path(), field_names[field::payload]};
        if (read_.payload.empty()) read_.payload = "null";
        if (!is_json_type(read_.content_type))
            unpack_payload(at);
        else if (is_base64_)
            fail_at(at, "is JSON, which rf-encoding is not for");
    }

    [[nodiscard]] result<message> take() && {
        POSTHORN_TRY(validate_outside(read_, rules_.limits));
        return std::move(read_);
    }

private:
    void read_field(std::size_t index, json_reader& value) {
        switch (index) {
            case field::id: read_.id = read_uuid(value); return;
            case field::correlation: read_.correlation_id = text_or_null(value); return;
            case field::source: read_.source = value.string(); return;
            case field::type: read_.type = read_type(value); return;
            case field::endpoint: read_.endpoint = value.string(); return;
            case field::payload: read_.payload = trimmed(value.document()); return;
            case field::headers: return read_headers(value);
            default: value.skip();
        }
    }

    void read_headers(json_reader& from) {
        if (from.is_null()) return;
        std::vector<std::string_view> names;
        json_writer to(read_.headers);
        from.members([&](std::string_view name, json_reader& value) {
            names.push_back(name);
            if (name.starts_with(wire_names::ours)) return read_header(name, value);
            if (read_.headers.empty()) to.open('{');
            to.key(name);
            read_.headers += trimmed(value.document());
        });
        if (!read_.headers.empty()) to.close('}');
        std::ranges::sort(names);
        if (std::ranges::adjacent_find(names) != names.end()) from.fail("holds a name twice");
    }

    void read_header(std::string_view name, json_reader& value) {
        if (value.is_null()) return;
        if (name == wire_names::version) return check_version(value);
        if (name == wire_names::timestamp)
            created_at_ = read_time(value);
        else if (name == wire_names::expires_at)
            expires_at_ = read_time(value);
        else if (name == wire_names::content_type)
            read_.content_type = value.string();
        else if (name == wire_names::tenant)
            read_.tenant = value.string();
        else if (name == wire_names::order_key)
            read_.order_key = value.string();
        else if (name == wire_names::causation_id)
            read_.causation_id = read_uuid(value);
        else if (name == wire_names::parent_id)
            read_.parent_id = read_uuid(value);
        else if (name != wire_names::encoding)
            value.skip();  // Of a later minor version.
        else if (value.string() != wire_names::base64)
            value.fail("is not base64");
        else
            is_base64_ = true;
    }

    /// A payload that is not JSON lies in a JSON string.
    void unpack_payload(const json_path& at) {
        if (read_.payload == "null") {
            read_.payload.clear();
            return;
        }
        if (read_.payload.front() != '"') fail_at(at, "is not text, as rf-content-type makes it");
        std::string text;
        json_reader::read(read_.payload, [&](json_reader& from) { text = from.string(); });
        if (is_base64_) {
            const auto bytes = decode_base64(text);
            if (!bytes) fail_at(at, "is not base64, as rf-encoding says");
            text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        }
        read_.payload = std::move(text);
    }

    const envelope_rules& rules_;
    message read_;
    std::optional<wall_time> created_at_;
    std::optional<wall_time> expires_at_;
    bool is_base64_ = false;
};

/// `where` is the path of the message in a batch; empty for one alone.
result<message> read_one(std::string_view json, const envelope_rules& rules,
                         std::string_view where) {
    try {
        envelope_reader reader(rules);
        json_reader::read(json, [&](json_reader& from) { reader.read(from); });
        auto read = std::move(reader).take();
        if (!read && !where.empty())
            return fail(read.error().code(), "{}: {}", where, read.error().what());
        return read;
    } catch (const error& why) {
        return std::unexpected(as_malformed(why, where));
    }
}

}  // namespace

result<message> read_envelope(std::string_view json, const envelope_rules& rules) {
    return read_one(json, rules, {});
}

result<std::vector<result<message>>> read_batch(std::string_view json,
                                                const envelope_rules& rules) {
    const auto slices = split_list(json, {.field = "messages", .elements_max = rules.messages_max});
    if (!slices && slices.error().code() == error_code::message_too_large)
        return fail(error_code::message_too_large, "{}; limits.messages_in_batch allows no more",
                    slices.error().what());
    POSTHORN_TRY(slices);
    std::vector<result<message>> all;
    all.reserve(slices->size());
    for (std::size_t i = 0; i < slices->size(); ++i) {
        const auto slice = (*slices)[i];
        const auto where = fmt::format("messages[{}]", i);
        if (slice.empty())
            all.push_back(fail(error_code::malformed_request, "{} is not an object", where));
        else
            all.push_back(read_one(slice, rules, where));
    }
    return all;
}

}  // namespace posthorn
