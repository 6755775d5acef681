#include "transport/amqp/amqp_fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace posthorn {
namespace {

constexpr std::size_t short_max = 255;  // Of a short string, by the protocol.

std::optional<std::string> text_of_value(const amqp_field_value_t& from) {
    const auto& value = from.value;
    switch (from.kind) {
        case AMQP_FIELD_KIND_UTF8:
        case AMQP_FIELD_KIND_BYTES: return text_of(value.bytes);
        case AMQP_FIELD_KIND_BOOLEAN: return value.boolean != 0 ? "true" : "false";
        case AMQP_FIELD_KIND_I8: return fmt::format("{}", static_cast<int>(value.i8));
        case AMQP_FIELD_KIND_U8: return fmt::format("{}", static_cast<int>(value.u8));
        case AMQP_FIELD_KIND_I16: return fmt::format("{}", value.i16);
        case AMQP_FIELD_KIND_U16: return fmt::format("{}", value.u16);
        case AMQP_FIELD_KIND_I32: return fmt::format("{}", value.i32);
        case AMQP_FIELD_KIND_U32: return fmt::format("{}", value.u32);
        case AMQP_FIELD_KIND_I64: return fmt::format("{}", value.i64);
        case AMQP_FIELD_KIND_U64:
        case AMQP_FIELD_KIND_TIMESTAMP: return fmt::format("{}", value.u64);
        case AMQP_FIELD_KIND_F32: return fmt::format("{}", value.f32);
        case AMQP_FIELD_KIND_F64: return fmt::format("{}", value.f64);
        default: return std::nullopt;
    }
}

bool has(const amqp_basic_properties_t& from, amqp_flags_t flag) {
    return (from._flags & flag) != 0;
}

}  // namespace

amqp_properties::amqp_properties(const broker_message& of) {
    made_._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG;
    made_.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    const auto say = [&](amqp_bytes_t& into, amqp_flags_t flag, std::string_view text) {
        if (text.empty() || text.size() > short_max) return;  // The headers have it in full.
        into = bytes_of_text(text);
        made_._flags |= flag;
    };
    say(made_.message_id, AMQP_BASIC_MESSAGE_ID_FLAG, of.id);
    say(made_.content_type, AMQP_BASIC_CONTENT_TYPE_FLAG, of.content_type);
    say(made_.correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG, of.correlation_id);
    if (of.created_seconds > 0) {
        made_.timestamp = static_cast<std::uint64_t>(of.created_seconds);
        made_._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
    }
    if (of.priority > 0) {
        made_.priority = static_cast<std::uint8_t>(std::min(of.priority, 255));
        made_._flags |= AMQP_BASIC_PRIORITY_FLAG;
    }
    headers_.reserve(of.headers.size());
    for (const auto& [name, value] : of.headers) {
        amqp_table_entry_t entry{};
        entry.key = bytes_of_text(name);
        entry.value.kind = AMQP_FIELD_KIND_UTF8;
        entry.value.value.bytes = bytes_of_text(value);
        headers_.push_back(entry);
    }
    made_.headers = {.num_entries = static_cast<int>(headers_.size()), .entries = headers_.data()};
}

std::size_t header_frame_bytes(const broker_message& of) {
    constexpr std::size_t around = 7 + 1;       // Type, channel and length; the end.
    constexpr std::size_t before = 2 + 2 + 8;   // Class, weight and the body's length.
    constexpr std::size_t numbers = 1 + 1 + 8;  // Delivery mode, priority, time.
    constexpr std::size_t entry = 1 + 1 + 4;    // Lengths of name and value, and its kind.
    std::size_t bytes = around + before + sizeof(std::uint16_t) + numbers + sizeof(std::uint32_t);
    for (const auto* const text : {&of.id, &of.content_type, &of.correlation_id})
        bytes += 1 + std::min(text->size(), short_max);
    for (const auto& [name, value] : of.headers) bytes += entry + name.size() + value.size();
    return bytes;
}

broker_message read_amqp_properties(const amqp_basic_properties_t& with) {
    broker_message to;
    if (has(with, AMQP_BASIC_MESSAGE_ID_FLAG)) to.id = text_of(with.message_id);
    if (has(with, AMQP_BASIC_CONTENT_TYPE_FLAG)) to.content_type = text_of(with.content_type);
    if (has(with, AMQP_BASIC_CORRELATION_ID_FLAG)) to.correlation_id = text_of(with.correlation_id);
    if (has(with, AMQP_BASIC_TIMESTAMP_FLAG))
        to.created_seconds = static_cast<std::int64_t>(
            std::min<std::uint64_t>(with.timestamp, std::numeric_limits<std::int32_t>::max()));
    if (has(with, AMQP_BASIC_PRIORITY_FLAG)) to.priority = with.priority;
    if (has(with, AMQP_BASIC_HEADERS_FLAG))
        for (int i = 0; i < with.headers.num_entries; ++i)
            if (auto text = text_of_value(with.headers.entries[i].value))
                to.headers.emplace_back(text_of(with.headers.entries[i].key), *std::move(text));
    return to;
}

std::uint32_t deliveries_of(const broker_message& one, bool again) {
    std::uint32_t before = again ? 1 : 0;
    if (const auto* const counted = one.header("x-delivery-count"))
        std::from_chars(counted->data(), counted->data() + counted->size(), before);
    return std::min(before, std::numeric_limits<std::uint32_t>::max() - 1) + 1;
}

}  // namespace posthorn
