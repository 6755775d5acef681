#include <array>
#include <unordered_set>

#include <gtest/gtest.h>

#include <posthorn/uuid.hpp>

namespace posthorn {
namespace {

constexpr uuid sample(uuid::bytes_type{0x01, 0x8f, 0x3b, 0x1c, 0xab, 0xcd, 0x7e, 0xf0, 0x92, 0x34,
                                       0x56, 0x78, 0x9a, 0xbc, 0xde, 0xff});
constexpr std::string_view sample_text = "018f3b1c-abcd-7ef0-9234-56789abcdeff";

TEST(uuid, is_nil_by_default) {
    EXPECT_TRUE(uuid().is_nil());
    EXPECT_FALSE(sample.is_nil());
    EXPECT_EQ(uuid().to_string(), "00000000-0000-0000-0000-000000000000");
}

TEST(uuid, writes_hyphens_and_lower_case) {
    EXPECT_EQ(sample.to_string(), sample_text);
    std::array<char, 38> out;
    out.fill('#');
    sample.format_to(std::span(out).subspan<1, 36>());
    EXPECT_EQ(std::string_view(out.data(), out.size()), "#" + std::string(sample_text) + "#");
}

TEST(uuid, reads_both_forms_in_either_case) {
    for (const char* text :
         {"018f3b1c-abcd-7ef0-9234-56789abcdeff", "018F3B1C-ABCD-7EF0-9234-56789ABCDEFF",
          "018f3B1c-aBcD-7eF0-9234-56789abcDEff", "018f3b1cabcd7ef0923456789abcdeff",
          "018F3B1CABCD7EF0923456789ABCDEFF"})
        EXPECT_EQ(uuid::parse(text), sample) << text;
    EXPECT_EQ(uuid::parse("ffffffff-ffff-ffff-ffff-ffffffffffff")->bytes()[15], 0xff);
    EXPECT_EQ(uuid::parse("00000000-0000-0000-0000-000000000000"), uuid());
}

TEST(uuid, rejects_a_wrong_hyphen) {
    for (const char* text :
         {"018f3b1-cabcd-7ef0-9234-56789abcdeff", "018f3b1c-abcd-7ef0-92345-6789abcdeff",
          "018f3b1c_abcd_7ef0_9234_56789abcdeff", "018f3b1c-abcd7ef0-9234-56789abcdef-f",
          "018f3b1c--abcd-7ef0-9234-6789abcdeff", "018f3b1cabcd-7ef0-9234-56789abcdefff",
          "018f-3b1cabcd7ef0923456789abcdef", "018f3b1c-abcd-7ef0-9234-56789abcd-ff"})
        EXPECT_EQ(uuid::parse(text), std::nullopt) << text;
}

TEST(uuid, rejects_every_other_length) {
    const std::string long_enough = std::string(sample_text) + "00000000";
    for (std::size_t size = 0; size <= long_enough.size(); ++size)
        if (size != 36) EXPECT_EQ(uuid::parse(long_enough.substr(0, size)), std::nullopt) << size;
    const std::string digits(40, '0');
    for (std::size_t size = 0; size <= digits.size(); ++size)
        EXPECT_EQ(uuid::parse(digits.substr(0, size)).has_value(), size == 32) << size;
}

TEST(uuid, rejects_braces_and_prefixes) {
    for (const char* text :
         {"{018f3b1c-abcd-7ef0-9234-56789abcdeff}", "(018f3b1c-abcd-7ef0-9234-56789abcdeff)",
          "urn:uuid:018f3b1c-abcd-7ef0-9234-56789abcdeff", "{018f3b1c-abcd-7ef0-9234-56789abcde}",
          "{018f3b1cabcd7ef0923456789abcde}", " 018f3b1c-abcd-7ef0-9234-56789abcdef",
          "0x018f3b1cabcd7ef0923456789abcde"})
        EXPECT_EQ(uuid::parse(text), std::nullopt) << text;
}

TEST(uuid, rejects_each_byte_that_is_no_digit_in_each_place) {
    for (std::size_t at = 0; at < sample_text.size(); ++at) {
        if (sample_text[at] == '-') continue;
        for (int c = 0; c < 256; ++c) {
            std::string text(sample_text);
            text[at] = static_cast<char>(c);
            const bool digit =
                (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            ASSERT_EQ(uuid::parse(text).has_value(), digit) << at << ' ' << c;
        }
    }
}

TEST(uuid, is_ordered_as_its_text_is) {
    const std::array texts{
        "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0100-000000000000",
        "018f3b1c-abcd-7ef0-9234-56789abcdeff", "80000000-0000-0000-0000-000000000000"};
    for (std::size_t i = 1; i < texts.size(); ++i)
        EXPECT_LT(*uuid::parse(texts[i - 1]), *uuid::parse(texts[i])) << texts[i];
}

TEST(uuid, hashes_a_burst_without_crowding) {
    // Ids that differ in a few bits must differ in the low bits of the hash, where tables look.
    std::unordered_set<std::size_t> low_bits;
    for (unsigned i = 0; i < 4096; ++i) {
        auto bytes = sample.bytes();
        bytes[6] = static_cast<std::uint8_t>(0x70 | i >> 8);
        bytes[7] = static_cast<std::uint8_t>(i);
        low_bits.insert(std::hash<uuid>()(uuid(bytes)) & 4095);
    }
    EXPECT_GT(low_bits.size(), 2400u);  // 4096 balls in 4096 boxes fill about 2589.
    EXPECT_EQ(std::hash<uuid>()(sample), std::hash<uuid>()(*uuid::parse(sample_text)));
}

TEST(uuid, tells_its_time_only_in_version_7) {
    EXPECT_EQ(sample.version(), 7);
    EXPECT_EQ(sample.time(), wall_time(std::chrono::milliseconds(0x018f3b1cabcd)));
    EXPECT_EQ(uuid::parse("018f3b1c-abcd-4ef0-9234-56789abcdeff")->time(), std::nullopt);
    EXPECT_EQ(uuid::parse("018f3b1c-abcd-7ef0-d234-56789abcdeff")->time(), std::nullopt);
    EXPECT_EQ(uuid().time(), std::nullopt);
}

}  // namespace
}  // namespace posthorn
