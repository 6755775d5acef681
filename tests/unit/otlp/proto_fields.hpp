#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace posthorn::test {

/// A message in protocol buffers, read without knowing what it is: its fields in their order.
class proto_fields {
public:
    struct field {
        std::uint64_t number = 0;
        std::uint64_t value = 0;   // Of what is no text; fixed ones too.
        std::string_view bytes{};  // Of a text or a message.

        [[nodiscard]] double real() const { return std::bit_cast<double>(value); }
    };

    explicit proto_fields(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto tag = varint(bytes);
            field read{.number = tag >> 3U};
            switch (tag & 7U) {
                case 0: read.value = varint(bytes); break;
                case 1: read.value = fixed(bytes, 8); break;
                case 2: read.bytes = take(bytes, varint(bytes)); break;
                case 5: read.value = fixed(bytes, 4); break;
                default: throw std::runtime_error("no such wire type");
            }
            fields_.push_back(read);
        }
    }

    [[nodiscard]] auto begin() const { return fields_.begin(); }
    [[nodiscard]] auto end() const { return fields_.end(); }

    [[nodiscard]] std::vector<field> all(std::uint64_t number) const {
        std::vector<field> found;
        for (const auto& each : fields_)
            if (each.number == number) found.push_back(each);
        return found;
    }
    [[nodiscard]] bool has(std::uint64_t number) const { return !all(number).empty(); }
    [[nodiscard]] field one(std::uint64_t number) const {
        const auto found = all(number);
        if (found.size() != 1)
            throw std::runtime_error("not one of field " + std::to_string(number));
        return found.front();
    }
    [[nodiscard]] proto_fields in(std::uint64_t number) const {
        return proto_fields(one(number).bytes);
    }
    [[nodiscard]] std::string text(std::uint64_t number) const {
        return has(number) ? std::string(one(number).bytes) : std::string();
    }

private:
    static std::string_view take(std::string_view& from, std::uint64_t size) {
        if (size > from.size()) throw std::runtime_error("too short");
        const auto taken = from.substr(0, size);
        from.remove_prefix(size);
        return taken;
    }
    static std::uint64_t fixed(std::string_view& from, std::size_t size) {
        std::uint64_t value = 0;
        const auto bytes = take(from, size);
        for (std::size_t i = size; i-- > 0;)
            value = value << 8U | static_cast<std::uint8_t>(bytes[i]);
        return value;
    }
    static std::uint64_t varint(std::string_view& from) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<std::uint8_t>(take(from, 1).front());
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        throw std::runtime_error("a number without an end");
    }

    std::vector<field> fields_;
};

/// The spans of an `ExportTraceServiceRequest`, however many resources and scopes there are.
[[nodiscard]] inline std::vector<proto_fields> spans_in(std::string_view request) {
    std::vector<proto_fields> spans;
    const proto_fields whole(request);
    for (const auto& resource : whole.all(1)) {
        const proto_fields of_resource(resource.bytes);
        for (const auto& scope : of_resource.all(2)) {
            const proto_fields of_scope(scope.bytes);
            for (const auto& one : of_scope.all(2)) spans.emplace_back(one.bytes);
        }
    }
    return spans;
}

/// The texts, numbers and flags of `KeyValue`s, as text.
[[nodiscard]] inline std::vector<std::pair<std::string, std::string>> attributes_in(
    const proto_fields& of, std::uint64_t number) {
    std::vector<std::pair<std::string, std::string>> read;
    for (const auto& each : of.all(number)) {
        const proto_fields pair(each.bytes);
        const auto value = pair.in(2);
        std::string text = value.text(1);
        if (value.has(2)) text = value.one(2).value != 0 ? "true" : "false";
        if (value.has(3)) text = std::to_string(static_cast<std::int64_t>(value.one(3).value));
        read.emplace_back(pair.text(1), text);
    }
    return read;
}

}  // namespace posthorn::test
