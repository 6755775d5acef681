#include "otlp/gzip.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace posthorn {
namespace {

constexpr std::size_t window = 32'768;  // How far back a repeat may lie.
constexpr std::size_t repeat_min = 4;
constexpr std::size_t repeat_max = 258;

// RFC 1951, 3.2.5: where each code begins, and how many bits follow it.
struct code_range {
    std::uint16_t first;
    std::uint8_t bits;
};
constexpr std::array<code_range, 29> lengths{
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<code_range, 30> distances{
    {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
     {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
     {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
     {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
     {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

template <std::size_t N>
std::size_t code_of(const std::array<code_range, N>& among, std::size_t value) {
    const auto after = std::ranges::upper_bound(
        among, value, {}, [](const code_range& each) { return std::size_t{each.first}; });
    return static_cast<std::size_t>(after - among.begin()) - 1;
}

/// Bits go into each byte from its lowest one up.
class bit_writer {
public:
    explicit bit_writer(std::string& to) : out_(to) {}

    void put(std::uint32_t bits, unsigned count) {
        held_ |= std::uint64_t{bits} << count_;
        for (count_ += count; count_ >= 8; count_ -= 8, held_ >>= 8U)
            out_ += static_cast<char>(held_);
    }
    /// Huffman codes go in with their highest bit first.
    void put_code(std::uint32_t code, unsigned count) {
        std::uint32_t turned = 0;
        for (unsigned i = 0; i < count; ++i) turned |= (code >> i & 1U) << (count - 1 - i);
        put(turned, count);
    }
    void end() {
        if (count_ > 0) out_ += static_cast<char>(held_);
    }

private:
    std::string& out_;
    std::uint64_t held_ = 0;
    unsigned count_ = 0;
};

/// A byte, the end of the block, or a length; RFC 1951, 3.2.6.
void put_symbol(bit_writer& to, std::uint32_t symbol) {
    if (symbol < 144)
        to.put_code(0x30 + symbol, 8);
    else if (symbol < 256)
        to.put_code(0x190 + symbol - 144, 9);
    else if (symbol < 280)
        to.put_code(symbol - 256, 7);
    else
        to.put_code(0xC0 + symbol - 280, 8);
}

void put_repeat(bit_writer& to, std::size_t length, std::size_t distance) {
    const auto of_length = code_of(lengths, length);
    put_symbol(to, static_cast<std::uint32_t>(257 + of_length));
    to.put(static_cast<std::uint32_t>(length - lengths[of_length].first), lengths[of_length].bits);
    const auto of_distance = code_of(distances, distance);
    to.put_code(static_cast<std::uint32_t>(of_distance), 5);
    to.put(static_cast<std::uint32_t>(distance - distances[of_distance].first),
           distances[of_distance].bits);
}

std::uint32_t four_at(std::string_view bytes, std::size_t at) {
    std::uint32_t four = 0;
    std::memcpy(&four, bytes.data() + at, sizeof four);
    return four;
}

void deflate(bit_writer& to, std::string_view bytes) {
    constexpr std::size_t places = 1U << 14U;
    std::vector<std::size_t> last(places, bytes.size());  // Where such a beginning stood last.
    to.put(1, 1);                                         // The last block,
    to.put(1, 2);                                         // with fixed codes.
    for (std::size_t i = 0; i < bytes.size();) {
        std::size_t length = 0;
        std::size_t before = 0;
        if (i + repeat_min <= bytes.size()) {
            auto& place = last[(four_at(bytes, i) * 2'654'435'761U) >> 18U];
            before = place;
            place = i;
            const bool is_near = before < i && i - before <= window;
            if (is_near && four_at(bytes, before) == four_at(bytes, i)) {
                const auto most = std::min(repeat_max, bytes.size() - i);
                while (length < most && bytes[before + length] == bytes[i + length]) ++length;
            }
        }
        if (length >= repeat_min) {
            put_repeat(to, length, i - before);
            i += length;
        } else {
            put_symbol(to, static_cast<std::uint8_t>(bytes[i++]));
        }
    }
    put_symbol(to, 256);
    to.end();
}

constexpr auto crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        auto rest = i;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest & 1U) != 0 ? 0xEDB8'8320U ^ rest >> 1U : rest >> 1U;
        table[i] = rest;
    }
    return table;
}();

std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t sum = UINT32_MAX;
    for (const char each : bytes)
        sum = crc_table[(sum ^ static_cast<std::uint8_t>(each)) & 0xFFU] ^ sum >> 8U;
    return ~sum;
}

void add_number(std::string& to, std::uint32_t number) {
    for (int i = 0; i < 4; ++i, number >>= 8U) to += static_cast<char>(number);
}

}  // namespace

std::string gzip(std::string_view bytes) {
    using namespace std::string_view_literals;
    std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff"sv);  // No name, no time, of no known system.
    bit_writer to(out);
    deflate(to, bytes);
    add_number(out, crc32(bytes));
    add_number(out, static_cast<std::uint32_t>(bytes.size()));
    return out;
}

}  // namespace posthorn
