#include "standby/link_format.hpp"

#include <gtest/gtest.h>

namespace posthorn::standby {
namespace {

const secret pair_key(std::array<std::byte, 32>{std::byte{42}});
constexpr std::array<std::byte, 2 * nonce_size> nonces{std::byte{1}};
constexpr std::array said{std::byte{1}, std::byte{2}, std::byte{3}};

link_seal sealed_by(link_end end) { return {end, pair_key, nonces}; }

TEST(a_link_message, is_opened_by_the_other_end_alone) {
    auto primary = sealed_by(link_end::primary);
    const auto whole = primary.seal(link_kind::frames, {said});
    const auto opened = sealed_by(link_end::standby).open(whole);
    ASSERT_TRUE(opened) << opened.error().what();
    EXPECT_EQ(opened->kind, link_kind::frames);
    EXPECT_TRUE(std::ranges::equal(opened->body, said));
    EXPECT_FALSE(sealed_by(link_end::primary).open(whole));  // Sent back to its sender.
    EXPECT_FALSE(link_seal(link_end::standby).open(whole));
    EXPECT_FALSE(
        link_seal(link_end::standby, secret(std::array<std::byte, 32>{}), nonces).open(whole));
}

TEST(a_link_message, is_taken_once_and_in_its_order) {
    auto primary = sealed_by(link_end::primary);
    const auto first = primary.seal(link_kind::frames, {said});
    const auto second = primary.seal(link_kind::frames, {said});
    auto standby = sealed_by(link_end::standby);
    EXPECT_FALSE(standby.open(second));
    EXPECT_TRUE(standby.open(first));
    EXPECT_FALSE(standby.open(first));
    EXPECT_TRUE(standby.open(second));
}

TEST(a_link_message, shows_every_bit_that_was_changed_and_every_byte_that_lacks) {
    const auto whole = sealed_by(link_end::primary).seal(link_kind::done, {said});
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto flipped = whole;
        flipped[at] ^= std::byte{0x04};
        EXPECT_FALSE(sealed_by(link_end::standby).open(flipped)) << at;
        EXPECT_FALSE(sealed_by(link_end::standby).open(bytes_view(whole).first(at))) << at;
    }
}

TEST(a_link_message, is_not_waited_for_when_it_claims_to_be_endless) {
    std::array<std::byte, link_head_size> head{};
    head.back() = std::byte{1};
    EXPECT_TRUE(link_seal::rest_after(head));
    std::fill_n(head.begin() + 8, 4, std::byte{0xff});
    EXPECT_EQ(link_seal::rest_after(head).error().code(), error_code::malformed_request);
}

TEST(a_link_message, of_a_kind_that_is_not_known_is_refused) {
    std::array<std::byte, link_head_size> head{};
    EXPECT_FALSE(link_seal::rest_after(head));
    head.back() = std::byte{15};
    EXPECT_FALSE(link_seal::rest_after(head));
}

TEST(link_bodies, are_read_as_they_were_written) {
    const link_identity identity{{std::byte{3}}, 7, true, "orders"};
    EXPECT_EQ(decode_identity(encode(identity)), identity);
    const standby_place place{
        {std::byte{3}}, 7, standby_phase::following, {{std::byte{9}}, 4'152, {5, 6}}};
    EXPECT_EQ(decode_place(encode(place)), place);
    const page_hashes hashes{8'192, 4'096, {{std::byte{1}}, {std::byte{2}}}};
    EXPECT_EQ(decode_hashes(encode(hashes)), hashes);
}

TEST(link_bodies, that_are_cut_or_too_long_are_refused) {
    auto place = encode(standby_place{});
    EXPECT_FALSE(decode_place(bytes_view(place).first(place.size() - 1)));
    place.push_back(std::byte{});
    EXPECT_FALSE(decode_place(place));
    EXPECT_FALSE(decode_identity(bytes_view(place).first(20)));
    EXPECT_FALSE(decode_hashes(encode(page_hashes{0, 0, {}})));
    EXPECT_FALSE(decode_hashes(encode(page_hashes{0, 1 << 20, {}})));
}

}  // namespace
}  // namespace posthorn::standby
