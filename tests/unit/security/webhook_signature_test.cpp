#include "security/webhook_signature.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.hpp"
#include "security/hex.hpp"

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The example that Standard Webhooks and its libraries share.
constexpr std::string_view known = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr webhook_head known_head{"msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330};
constexpr std::string_view known_body = R"({"test": 2432232314})";
constexpr std::string_view known_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

secret secret_of(std::string_view text) { return parse_webhook_secret(text).value(); }

std::string whsec(std::size_t bytes) { return "whsec_" + encode_base64(std::string(bytes, 'k')); }

std::vector<std::byte> from_hex(std::string_view digits) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2)
        bytes.push_back(
            static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
    return bytes;
}

TEST(webhook_signature, is_that_of_the_standards_own_example) {
    const std::array live{secret_of(known)};
    EXPECT_EQ(sign_webhook(known_head, known_body, live), known_signature);
}

TEST(webhook_signature, covers_id_time_and_body_and_the_secret) {
    const std::array live{secret_of(known)};
    const std::array other{secret_of(whsec(32))};
    for (const auto& changed :
         {sign_webhook({"msg_x", known_head.timestamp}, known_body, live),
          sign_webhook({known_head.id, known_head.timestamp + 1}, known_body, live),
          sign_webhook(known_head, R"({"test": 2432232315})", live),
          sign_webhook(known_head, known_body, other)})
        EXPECT_NE(changed, known_signature);
}

TEST(webhook_signature, is_there_for_every_live_secret_and_the_key_pair) {
    seeded_random random(1);
    const auto pair = ed25519_pair::make(random);
    const std::array live{secret_of(known), secret_of(whsec(24))};
    const auto all = sign_webhook(known_head, known_body, live, &pair);
    EXPECT_THAT(all, StartsWith(std::string(known_signature) + " v1,"));
    EXPECT_THAT(all, HasSubstr(" v1a,"));
    EXPECT_EQ(std::ranges::count(all, ' '), 2);
    EXPECT_THAT(sign_webhook(known_head, known_body, {}, &pair), StartsWith("v1a,"));
}

TEST(webhook_signature, of_a_body_with_any_bytes_is_over_them_as_they_are) {
    const std::array live{secret_of(known)};
    EXPECT_NE(sign_webhook(known_head, std::string_view("a\0b", 3), live),
              sign_webhook(known_head, "a", live));
    EXPECT_NE(sign_webhook(known_head, "", live), sign_webhook(known_head, "\n", live));
}

TEST(webhook_secret, has_24_to_64_bytes) {
    for (const auto bytes : std::to_array<std::size_t>({24, 32, 64}))
        EXPECT_TRUE(parse_webhook_secret(whsec(bytes)));
    for (const auto bytes : std::to_array<std::size_t>({0, 1, 23, 65})) {
        const auto refused = parse_webhook_secret(whsec(bytes));
        ASSERT_FALSE(refused) << bytes;
        EXPECT_EQ(refused.error().code(), error_code::secret_unavailable);
        EXPECT_THAT(refused.error().what(), HasSubstr("24 to 64 bytes"));
    }
}

TEST(webhook_secret, is_refused_in_other_forms_without_being_quoted) {
    for (const std::string_view text :
         {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
          "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
          "whsec_not base64 at all, however long it is", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
          "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}) {
        const auto refused = parse_webhook_secret(text);
        ASSERT_FALSE(refused) << text;
        EXPECT_THAT(refused.error().what(), Not(HasSubstr("MfKQ9r8")));
    }
}

TEST(webhook_secret, that_is_made_can_be_read_and_is_never_the_same) {
    system_random random;
    const auto one = reveal_webhook_secret(make_webhook_secret(random));
    EXPECT_NE(one, reveal_webhook_secret(make_webhook_secret(random)));
    EXPECT_EQ(reveal_webhook_secret(secret_of(one)), one);
    EXPECT_EQ(secret_of(one).reveal().size(), 32U);
}

TEST(outbox_signature, is_the_hmac_of_the_body_keyed_with_the_secrets_text) {
    // RFC 4231, test case 2, whose key is too short for a secret of ours.
    const secret jefe(std::as_bytes(std::span(std::string_view("Jefe"))));
    constexpr std::string_view digits =
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    EXPECT_EQ(sign_outbox("what do ya want for nothing?", jefe), "sha256=" + std::string(digits));
    const auto upper = sign_outbox("what do ya want for nothing?", jefe, hex_case::upper);
    EXPECT_EQ(upper, "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843");
    const auto text = parse_outbox_secret(known).value();
    EXPECT_EQ(text.reveal().size(), known.size()) << "its text, not what it decodes to";
}

TEST(outbox_signature, has_a_secret_of_16_to_512_bytes) {
    EXPECT_TRUE(parse_outbox_secret(std::string(16, 'x')));
    EXPECT_TRUE(parse_outbox_secret(std::string(512, 'x')));
    for (const auto bytes : std::to_array<std::size_t>({0, 15, 513})) {
        const auto refused = parse_outbox_secret(std::string(bytes, 'x'));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), error_code::secret_unavailable);
    }
}

TEST(ed25519, signs_as_rfc_8032_shows_it) {
    const auto seed = from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    const auto pair = ed25519_pair::parse("whsk_" + encode_base64(seed)).value();
    EXPECT_EQ(to_hex(pair.public_key()),
              "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    EXPECT_EQ(to_hex(pair.sign("r")),
              "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
              "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
    EXPECT_THAT(pair.public_text(), StartsWith("whpk_"));
}

TEST(ed25519, a_pair_comes_back_as_it_was_written) {
    system_random random;
    const auto pair = ed25519_pair::make(random);
    const auto again = ed25519_pair::parse(pair.reveal());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->public_key(), pair.public_key());
    EXPECT_EQ(again->sign("text"), pair.sign("text"));
    EXPECT_NE(ed25519_pair::make(random).public_key(), pair.public_key());
}

TEST(ed25519, refuses_what_is_no_pair_without_quoting_it) {
    seeded_random random(1);
    const auto text = ed25519_pair::make(random).reveal();
    const auto other = ed25519_pair::make(random).reveal();
    const auto half = text.substr(0, 5 + 40);
    for (const auto& bad : {std::string(), std::string("whsk_"), text.substr(5), half,
                            "whsec_" + text.substr(5), text + "AAAA",
                            // The seed of one and the public key of another.
                            "whsk_" + encode_base64([&] {
                                auto mixed = *decode_base64(text.substr(5));
                                const auto from = *decode_base64(other.substr(5));
                                std::copy(from.begin() + 32, from.end(), mixed.begin() + 32);
                                return mixed;
                            }())}) {
        const auto refused = ed25519_pair::parse(bad);
        ASSERT_FALSE(refused) << bad;
        EXPECT_EQ(refused.error().code(), error_code::secret_unavailable);
        if (bad.size() > 20) EXPECT_THAT(refused.error().what(), Not(HasSubstr(bad.substr(6, 10))));
    }
}

}  // namespace
}  // namespace posthorn
