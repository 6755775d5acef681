#include "otlp/gzip.hpp"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace posthorn {
namespace {

/// Reads one block of fixed codes back, as RFC 1951 says, with no regard for speed.
class inflater {
public:
    explicit inflater(std::string_view bytes) : bytes_(bytes) {}

    std::string all() {
        if (bits(1) != 1 || bits(2) != 1) throw std::runtime_error("not the one block");
        std::string out;
        for (;;) {
            const auto symbol = symbol_of();
            if (symbol < 256) {
                out += static_cast<char>(symbol);
            } else if (symbol == 256) {
                return out;
            } else {
                const auto length = length_of(symbol);
                const auto distance = distance_of();
                if (distance > out.size()) throw std::runtime_error("before the beginning");
                for (std::size_t i = 0; i < length; ++i) out += out[out.size() - distance];
            }
        }
    }
    /// Where the block ends, in whole bytes.
    [[nodiscard]] std::size_t end() const { return (at_ + 7) / 8; }

private:
    std::size_t bit() {
        if (at_ / 8 >= bytes_.size()) throw std::runtime_error("too short");
        const auto byte = static_cast<std::uint8_t>(bytes_[at_ / 8]);
        return byte >> (at_++ % 8) & 1U;
    }
    std::size_t bits(unsigned count) {
        std::size_t value = 0;
        for (unsigned i = 0; i < count; ++i) value |= bit() << i;
        return value;
    }
    std::size_t code(unsigned count, std::size_t begun = 0) {
        for (unsigned i = 0; i < count; ++i) begun = begun << 1U | bit();
        return begun;
    }
    std::size_t symbol_of() {
        const auto seven = code(7);
        if (seven < 24) return 256 + seven;
        const auto eight = code(1, seven);
        if (eight >= 48 && eight < 192) return eight - 48;
        if (eight >= 192 && eight < 200) return 280 + eight - 192;
        return 144 + code(1, eight) - 400;
    }
    std::size_t length_of(std::size_t symbol) {
        if (symbol == 285) return 258;
        if (symbol < 265) return symbol - 254;
        const auto extra = (symbol - 261) / 4;
        return 3 + ((4 + (symbol - 265) % 4) << extra) + bits(static_cast<unsigned>(extra));
    }
    std::size_t distance_of() {
        const auto symbol = code(5);
        if (symbol < 4) return symbol + 1;
        const auto extra = (symbol - 2) / 2;
        return 1 + ((2 + symbol % 2) << extra) + bits(static_cast<unsigned>(extra));
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
};

void expect_the_same_again(const std::string& text) {
    constexpr std::size_t head = 10;
    constexpr std::size_t tail = 8;
    const auto packed = gzip(text);
    inflater reader(std::string_view(packed).substr(head, packed.size() - head - tail));
    EXPECT_EQ(reader.all(), text);
    EXPECT_EQ(reader.end(), packed.size() - head - tail);
    const auto size = packed.substr(packed.size() - 4);
    std::size_t told = 0;
    for (std::size_t i = 4; i-- > 0;) told = told << 8U | static_cast<std::uint8_t>(size[i]);
    EXPECT_EQ(told, text.size());
}

TEST(gzip, is_read_back_as_it_was) {
    seeded_random random(3);
    expect_the_same_again("");
    expect_the_same_again("a");
    expect_the_same_again(std::string(1'000, 'a'));
    std::string every;
    for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
    expect_the_same_again(every + every);
    // A few letters repeat near and far; many bytes hardly do.
    for (const std::uint64_t letters : {2U, 5U, 256U}) {
        std::string text;
        for (int i = 0; i < 60'000; ++i) text += static_cast<char>(random.below(letters));
        expect_the_same_again(text + text);
    }
}

TEST(gzip, has_the_sum_of_the_standard) {
    const auto packed = gzip("123456789");
    EXPECT_EQ(packed.substr(packed.size() - 8, 4), "\x26\x39\xf4\xcb");
    EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
}

TEST(gzip, makes_what_repeats_smaller) {
    std::string text;
    for (int i = 0; i < 1'000; ++i) text += "messaging.message.id" + std::to_string(i);
    EXPECT_LT(gzip(text).size(), text.size() / 2);
}

}  // namespace
}  // namespace posthorn
