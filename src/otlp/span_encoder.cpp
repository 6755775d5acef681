#include "otlp/span_encoder.hpp"

#include <array>
#include <cstddef>

#include "base/text/utf8.hpp"

namespace posthorn {
namespace {

// Longer ones help no reader, and a text is what its sender made it.
constexpr std::size_t text_characters_max = 256;

std::array<char, 8> big_endian(std::uint64_t value) {
    std::array<char, 8> bytes{};
    for (auto i = bytes.size(); i-- > 0; value >>= 8U) bytes[i] = static_cast<char>(value);
    return bytes;
}

void write_id(protobuf_writer& to, std::uint32_t field, const trace_id& id) {
    std::array<char, 16> bytes{};
    const auto high = big_endian(id.high);
    const auto low = big_endian(id.low);
    for (std::size_t i = 0; i < high.size(); ++i) {
        bytes[i] = high[i];
        bytes[i + 8] = low[i];
    }
    to.always_bytes(field, std::string_view(bytes.data(), bytes.size()));
}

void write_id(protobuf_writer& to, std::uint32_t field, span_id id) {
    const auto bytes = big_endian(id.value);
    if (id) to.always_bytes(field, std::string_view(bytes.data(), bytes.size()));
}

void write_attribute(protobuf_writer& to, std::uint32_t field, std::string_view key,
                     const trace_span::attribute::second_type& value) {
    to.message(field, [&] {
        to.bytes(1, key);
        to.message(2, [&] {
            if (const auto* const text = std::get_if<std::string>(&value))
                to.always_bytes(1, clean_utf8(*text, text_characters_max));
            else if (const auto* const flag = std::get_if<bool>(&value))
                to.always_varint(2, *flag ? 1 : 0);
            else
                to.always_varint(3, static_cast<std::uint64_t>(std::get<std::int64_t>(value)));
        });
    });
}

void write_span(protobuf_writer& to, const trace_span& one, telemetry_profile by) {
    constexpr std::uint32_t attributes_field = 9;
    constexpr std::uint64_t status_error = 2;
    write_id(to, 1, one.of.trace);
    write_id(to, 2, one.of.span);
    to.bytes(3, one.state);
    write_id(to, 4, one.parent);
    to.bytes(5, name_of(one.kind));
    to.varint(6, protocol_kind(one.kind));
    to.fixed64(7, static_cast<std::uint64_t>(one.begun_ns));
    to.fixed64(8, static_cast<std::uint64_t>(one.ended_ns));
    if (const auto operation = operation_of(one.kind);
        !operation.empty() && by == telemetry_profile::messaging) {
        write_text(to, attributes_field, "messaging.system", "posthorn");
        write_text(to, attributes_field, "messaging.operation.type", operation);
    }
    for (const auto& [key, value] : one.attributes)
        if (const auto name = name_of(key, by); !name.empty())
            write_attribute(to, attributes_field, name, value);
    for (const auto& link : one.links)
        to.message(13, [&] {
            write_id(to, 1, link.trace);
            write_id(to, 2, link.span);
        });
    to.varint(14, one.links_left_out);
    if (one.failed) to.message(15, [&] { to.varint(3, status_error); });
    to.fixed32(16, one.of.flags);
}

}  // namespace

void write_text(protobuf_writer& to, std::uint32_t field, std::string_view key,
                std::string_view value) {
    to.message(field, [&] {
        to.bytes(1, key);
        to.message(2, [&] { to.always_bytes(1, value); });
    });
}

void write_resource(protobuf_writer& to, std::uint32_t field, const telemetry_resource& resource) {
    to.message(field, [&] {
        for (const auto& [key, value] : resource) write_text(to, 1, key, value);
    });
}

void write_scope(protobuf_writer& to, std::uint32_t field, telemetry_profile by) {
    to.message(field, [&] {
        to.bytes(1, scope_name(by));
        to.bytes(2, scope_version(by));
    });
}

std::string encode_spans(const telemetry_resource& resource, std::span<const trace_span> spans,
                         telemetry_profile by) {
    constexpr std::size_t bytes_of_a_span = 400;
    std::string out;
    out.reserve(spans.size() * bytes_of_a_span);
    protobuf_writer to(out);
    to.message(1, [&] {
        write_resource(to, 1, resource);
        to.message(2, [&] {
            write_scope(to, 1, by);
            for (const auto& one : spans) to.message(2, [&] { write_span(to, one, by); });
        });
    });
    return out;
}

}  // namespace posthorn
