#include "standby/wal_format.hpp"

#include <algorithm>
#include <bit>

namespace posthorn::standby {
namespace {

constexpr std::uint64_t magic = 0x377f0682;  // The last bit tells in which order sums are made.
constexpr std::uint64_t version = 3'007'000;
constexpr std::uint32_t page_size_min = 512;
constexpr std::uint32_t page_size_max = 65'536;

log_sum add(log_sum sum, bytes_view bytes, bool big_endian) {
    const auto word = [&](std::size_t at) {
        std::uint32_t made = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto shift = 8 * (big_endian ? 3 - i : i);
            made |= std::to_integer<std::uint32_t>(bytes[at + i]) << shift;
        }
        return made;
    };
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        sum.first += word(at) + sum.second;
        sum.second += word(at + 4) + sum.first;
    }
    return sum;
}

log_sum sum_at(bytes_view bytes) {
    return {static_cast<std::uint32_t>(read_number(bytes.first(4))),
            static_cast<std::uint32_t>(read_number(bytes.subspan(4, 4)))};
}

}  // namespace

std::uint64_t read_number(bytes_view bytes) {
    std::uint64_t number = 0;
    for (const auto one : bytes) number = number << 8U | std::to_integer<std::uint64_t>(one);
    return number;
}

void write_number(std::span<std::byte> into, std::uint64_t number) {
    for (auto at = into.size(); at-- > 0; number >>= 8U) into[at] = static_cast<std::byte>(number);
}

std::optional<log_header> read_log_header(bytes_view bytes) {
    if (bytes.size() < log_header_size) return std::nullopt;
    bytes = bytes.first(log_header_size);
    const auto mark = read_number(bytes.first(4));
    const auto page_size = static_cast<std::uint32_t>(read_number(bytes.subspan(8, 4)));
    if ((mark & ~std::uint64_t{1}) != magic || read_number(bytes.subspan(4, 4)) != version ||
        !std::has_single_bit(page_size) || page_size < page_size_min || page_size > page_size_max)
        return std::nullopt;
    log_header read{.page_size = page_size, .sums_big_endian = (mark & 1U) != 0};
    std::ranges::copy(bytes, read.bytes.begin());
    std::ranges::copy(bytes.subspan(16, read.salts.size()), read.salts.begin());
    read.sum = add({}, bytes.first(24), read.sums_big_endian);
    if (read.sum != sum_at(bytes.subspan(24, 8))) return std::nullopt;
    return read;
}

log_walk::log_walk(const log_header& header) : log_walk(header, log_end{.sum = header.sum}) {}

log_walk::log_walk(const log_header& header, const log_end& from)
    : page_size_(header.page_size),
      salts_(header.salts),
      big_endian_(header.sums_big_endian),
      sum_(from.sum),
      offset_(from.offset),
      end_(from) {}

std::optional<log_frame> log_walk::step(bytes_view frame) {
    if (frame.size() < frame_size()) return std::nullopt;
    const auto header = frame.first(frame_header_size);
    const auto data = frame.subspan(frame_header_size, page_size_);
    const log_frame read{
        .page = static_cast<std::uint32_t>(read_number(header.first(4))),
        .pages_in_file = static_cast<std::uint32_t>(read_number(header.subspan(4, 4))),
        .data = data};
    if (read.page == 0 || !std::ranges::equal(header.subspan(8, salts_.size()), salts_))
        return std::nullopt;
    const auto sum = add(add(sum_, header.first(8), big_endian_), data, big_endian_);
    if (sum != sum_at(header.subspan(16, 8))) return std::nullopt;
    sum_ = sum;
    offset_ += frame_size();
    if (read.pages_in_file != 0) end_ = {offset_, sum_, read.pages_in_file};
    return read;
}

void log_walk::pass(bytes_view frames) {
    while (step(frames)) frames = frames.subspan(frame_size());
}

}  // namespace posthorn::standby
