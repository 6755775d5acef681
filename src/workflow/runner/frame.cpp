#include "workflow/runner/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace posthorn {
namespace {

constexpr std::string_view magic = "PhWf";
static_assert(std::endian::native == std::endian::little);

template <class Number>
void put(std::string& to, Number value) {
    const auto at = to.size();
    to.resize(at + sizeof value);
    std::memcpy(to.data() + at, &value, sizeof value);
}

template <class Number>
Number get(std::string_view from) {
    Number value{};
    const auto taken = from.substr(0, sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
}

}  // namespace

void write_frame_head(std::string& to, const frame_head& head) {
    to += magic;
    put(to, frame_version);
    put(to, static_cast<std::uint16_t>(head.kind));
    put(to, head.body_bytes);
}

result<frame_head> read_frame_head(std::string_view bytes, std::size_t body_max) {
    if (bytes.size() < frame_head_bytes || !bytes.starts_with(magic))
        return fail(error_code::malformed_request,
                    "what came over a runner's pipe does not begin as a frame");
    const auto version = get<std::uint16_t>(bytes.substr(4));
    if (version != frame_version)
        return fail(error_code::malformed_request,
                    "a runner's frame has version {}, and {} is spoken here", version,
                    frame_version);
    const auto kind = get<std::uint16_t>(bytes.substr(6));
    if (kind < static_cast<std::uint16_t>(runner_frame::ready) ||
        kind > static_cast<std::uint16_t>(runner_frame::completions))
        return fail(error_code::malformed_request, "a runner's frame is of the kind {}", kind);
    const frame_head head{static_cast<runner_frame>(kind), get<std::uint32_t>(bytes.substr(8))};
    if (head.body_bytes > body_max)
        return fail(error_code::malformed_request,
                    "a runner's frame has {} bytes, and {} are allowed", head.body_bytes, body_max);
    return head;
}

void field_writer::number(std::uint32_t value) { put(to_, value); }
void field_writer::number(std::uint64_t value) { put(to_, value); }

void field_writer::text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    to_ += value;
}

void field_writer::bytes(std::span<const std::uint8_t> value) {
    to_.append(reinterpret_cast<const char*>(value.data()), value.size());
}

std::string_view field_reader::take(std::size_t bytes) {
    if (bytes > rest_.size()) is_sound_ = false;
    if (!is_sound_) return {};
    const auto taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
}

bool field_reader::flag() {
    const auto value = byte();
    if (value > 1) is_sound_ = false;
    return value == 1;
}

std::uint8_t field_reader::byte() { return get<std::uint8_t>(take(1)); }
std::uint32_t field_reader::number_32() { return get<std::uint32_t>(take(4)); }
std::uint64_t field_reader::number_64() { return get<std::uint64_t>(take(8)); }
std::string_view field_reader::text() { return take(number_32()); }

void field_reader::bytes(std::span<std::uint8_t> into) {
    const auto taken = take(into.size());
    if (!taken.empty()) std::memcpy(into.data(), taken.data(), taken.size());
}

std::size_t field_reader::count(std::size_t bytes_each) {
    const std::size_t many = number_32();
    if (many > rest_.size() / std::max<std::size_t>(1, bytes_each)) is_sound_ = false;
    return is_sound_ ? many : 0;
}

}  // namespace posthorn
