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
    head.back() = static_cast<std::byte>(std::to_underlying(last_link_kind) + 1);
    EXPECT_FALSE(link_seal::rest_after(head));
}

TEST(link_bodies, are_read_as_they_were_written) {
    const link_hello hello{.key_id = "0123456789abcdef", .nonce = {std::byte{4}}};
    EXPECT_EQ(decode_hello(encode(hello)), hello);
    EXPECT_EQ(version_in(encode(hello)), link_version);
    const link_nonce nonce{.nonce = {std::byte{4}}};
    EXPECT_EQ(decode_nonce(encode(nonce)), nonce);
    const link_identity identity{{std::byte{3}}, 7, true, {std::byte{2}}, "orders"};
    EXPECT_EQ(decode_identity(encode(identity)), identity);
    const log_place at{{std::byte{9}}, 4'152, {5, 6}};
    const link_welcome welcome{{{std::byte{3}}, 7, standby_phase::following, at}, true, "orders"};
    EXPECT_EQ(decode_welcome(encode(welcome)), welcome);
    const link_hand_over offer{8, at};
    EXPECT_EQ(decode_hand_over(encode(offer)), offer);
    const page_hashes hashes{8'192, 4'096, {{std::byte{1}}, {std::byte{2}}}};
    EXPECT_EQ(decode_hashes(encode(hashes)), hashes);
}

TEST(link_bodies, that_are_cut_or_too_long_are_refused) {
    const auto is_cut = [](const std::vector<std::byte>& whole, const auto& decode) {
        for (std::size_t size = 0; size < whole.size(); ++size)
            if (decode(bytes_view(whole).first(size))) return false;
        return true;
    };
    EXPECT_TRUE(is_cut(encode(link_hello{}), decode_hello));
    EXPECT_TRUE(is_cut(encode(link_nonce{}), decode_nonce));
    EXPECT_TRUE(is_cut(encode(link_identity{}), decode_identity));
    EXPECT_TRUE(is_cut(encode(link_welcome{}), decode_welcome));
    EXPECT_TRUE(is_cut(encode(link_hand_over{}), decode_hand_over));
    auto offer = encode(link_hand_over{});
    offer.push_back(std::byte{});
    EXPECT_FALSE(decode_hand_over(offer));
    EXPECT_FALSE(decode_identity(encode(link_identity{.service = std::string(1'025, 'x')})));
    EXPECT_EQ(version_in(std::array<std::byte, nonce_size>{}), 1);  // As the first release began.
    EXPECT_FALSE(decode_hashes(encode(page_hashes{0, 0, {}})));
    EXPECT_FALSE(decode_hashes(encode(page_hashes{0, 1 << 20, {}})));
}

}  // namespace
}  // namespace posthorn::standby
