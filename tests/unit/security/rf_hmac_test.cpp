#include "security/rf_hmac.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/base64.hpp"
#include "security/hmac.hpp"

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time now{std::chrono::sys_days{std::chrono::year{2026} / 2 / 14}};
constexpr rf_hmac_content bought{.message_id = "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
                                 .source = "inventory-service",
                                 .endpoint = "OrderApproved",
                                 .payload = R"({"orderId": "o1"})"};

secret secret_of(char each) {
    const std::string bytes(32, each);
    return secret(std::as_bytes(std::span(bytes)));
}

key_ring ring(std::vector<signing_key> keys) {
    return key_ring(std::move(keys), signature_scheme::rf_hmac);
}

std::string signed_over(std::string_view text, char key = 'k') {
    return encode_base64(hmac_of(secret_of(key), text));
}

TEST(rf_hmac, verifies_what_it_signs_and_nothing_changed) {
    const auto keys = ring({make_key(secret_of('k'))});
    const auto made = sign_rf_hmac(keys, bought, now);
    ASSERT_TRUE(made);
    EXPECT_TRUE(verify_rf_hmac(keys, bought, *made, now));
    for (auto field : {&rf_hmac_content::message_id, &rf_hmac_content::source,
                       &rf_hmac_content::endpoint, &rf_hmac_content::payload}) {
        auto changed = bought;
        changed.*field = "7";
        const auto checked = verify_rf_hmac(keys, changed, *made, now);
        ASSERT_FALSE(checked);
        EXPECT_EQ(checked.error().code(), error_code::bad_signature);
    }
    EXPECT_FALSE(verify_rf_hmac(ring({make_key(secret_of('o'))}), bought, *made, now));
    EXPECT_FALSE(verify_rf_hmac(keys, bought, "", now));
    EXPECT_FALSE(verify_rf_hmac(keys, bought, "no base64", now));
}

TEST(rf_hmac, takes_the_hash_in_each_usual_writing_and_of_the_compact_payload) {
    const auto keys = ring({make_key(secret_of('k'))});
    const std::string before = "a1b2c3d4-e5f6-7890-abcd-ef1234567890inventory-serviceOrderApproved";
    const auto spaced = sha256_of({bought.payload});
    const auto compact = sha256_of({R"({"orderId":"o1"})"});
    for (const auto& hash : {spaced, compact}) {
        std::string lower;
        std::string upper;
        for (const auto byte : hash) {
            lower += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
            upper += fmt::format("{:02X}", std::to_integer<unsigned>(byte));
        }
        for (const auto& written : {lower, upper, encode_base64(hash)})
            EXPECT_TRUE(verify_rf_hmac(keys, bought, signed_over(before + written), now))
                << written;
    }
    EXPECT_FALSE(verify_rf_hmac(keys, bought, signed_over(before), now)) << "without a hash";
}

TEST(rf_hmac, counts_every_key_that_is_alive_and_none_that_is_not) {
    auto old = make_key(secret_of('o'));
    old.verifies_until = now + 1h;
    auto revoked = make_key(secret_of('r'));
    revoked.revoked = true;
    const auto keys = ring({make_key(secret_of('k')), old, revoked});
    const auto by = [&](char key) {
        return *sign_rf_hmac(ring({make_key(secret_of(key))}), bought, now);
    };
    EXPECT_EQ(*sign_rf_hmac(keys, bought, now), by('k')) << "the first signs";
    EXPECT_TRUE(verify_rf_hmac(keys, bought, by('o'), now));
    EXPECT_FALSE(verify_rf_hmac(keys, bought, by('o'), now + 1h));
    EXPECT_FALSE(verify_rf_hmac(keys, bought, by('r'), now));
    EXPECT_EQ(sign_rf_hmac(ring({revoked}), bought, now).error().code(),
              error_code::secret_unavailable);
}

TEST(rf_hmac, is_no_way_in_for_a_peer_that_signs_with_v2) {
    const auto legacy = ring({make_key(secret_of('k'))});
    const key_ring strict({make_key(secret_of('k'))});
    const auto made = *sign_rf_hmac(legacy, bought, now);
    EXPECT_FALSE(verify_rf_hmac(strict, bought, made, now));
}

}  // namespace
}  // namespace posthorn
