#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace posthorn {

/// Writes fields in the wire format of protocol buffers to the end of a text. Fields with the value
/// that is meant where a field is missing are left out, as proto3 does.
///
/// Lifetime: the text outlives it.
/// Threads:  one.
class protobuf_writer {
public:
    explicit protobuf_writer(std::string& to) : out_(to) {}
    protobuf_writer(const protobuf_writer&) = delete;
    protobuf_writer& operator=(const protobuf_writer&) = delete;

    /// Of the types int32, int64, uint32, uint64, bool and enum.
    void varint(std::uint32_t field, std::uint64_t value) {
        if (value != 0) always_varint(field, value);
    }
    /// The same in a oneof, where zero is a value too.
    void always_varint(std::uint32_t field, std::uint64_t value) {
        tag(field, wire::varint);
        number(value);
    }
    void fixed64(std::uint32_t field, std::uint64_t value) {
        if (value == 0) return;
        tag(field, wire::eight_bytes);
        little_endian(value, 8);
    }
    void fixed32(std::uint32_t field, std::uint32_t value) {
        if (value == 0) return;
        tag(field, wire::four_bytes);
        little_endian(value, 4);
    }
    /// In a oneof, or where it is optional.
    void always_real(std::uint32_t field, double value) {
        tag(field, wire::eight_bytes);
        little_endian(std::bit_cast<std::uint64_t>(value), 8);
    }
    /// Of the types string and bytes.
    void bytes(std::uint32_t field, std::string_view value) {
        if (!value.empty()) always_bytes(field, value);
    }
    void always_bytes(std::uint32_t field, std::string_view value) {
        tag(field, wire::length);
        number(value.size());
        out_ += value;
    }
    /// A message within, also an empty one.
    template <class Body>
    void message(std::uint32_t field, const Body& body) {
        tag(field, wire::length);
        const auto begin = out_.size();
        body();
        // Its length is known now, and most often takes one byte.
        std::string length;
        protobuf_writer(length).number(out_.size() - begin);
        out_.insert(begin, length);
    }
    /// A packed repeated field.
    void packed_fixed64(std::uint32_t field, std::span<const std::uint64_t> values) {
        if (values.empty()) return;
        tag(field, wire::length);
        number(values.size() * 8);
        for (const auto each : values) little_endian(each, 8);
    }
    void packed_real(std::uint32_t field, std::span<const double> values) {
        if (values.empty()) return;
        tag(field, wire::length);
        number(values.size() * 8);
        for (const auto each : values) little_endian(std::bit_cast<std::uint64_t>(each), 8);
    }

private:
    enum class wire : std::uint8_t { varint = 0, eight_bytes = 1, length = 2, four_bytes = 5 };

    void tag(std::uint32_t field, wire type) {
        number(std::uint64_t{field} << 3U | static_cast<std::uint64_t>(type));
    }
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>(value | 0x80);
        out_ += static_cast<char>(value);
    }
    void little_endian(std::uint64_t value, int size) {
        for (; size > 0; --size, value >>= 8U) out_ += static_cast<char>(value);
    }

    std::string& out_;
};

}  // namespace posthorn
