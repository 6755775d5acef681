#include "security/ed25519.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/text/base64.hpp"

namespace posthorn {
namespace {

ed25519_pair pair_of(char seed) {
    return *ed25519_pair::parse("phsec_" + encode_base64(std::string(32, seed)), "phsec_");
}

TEST(ed25519, is_verified_by_the_public_half_alone) {
    const auto pair = pair_of('a');
    const auto signature = pair.sign("what was said");
    EXPECT_TRUE(verify_ed25519(pair.public_key(), "what was said", signature));
    EXPECT_FALSE(verify_ed25519(pair.public_key(), "what was sand", signature));
    EXPECT_FALSE(verify_ed25519(pair.public_key(), "", signature));
    EXPECT_FALSE(verify_ed25519(pair_of('b').public_key(), "what was said", signature));
    for (std::size_t at = 0; at < signature.size(); ++at) {
        auto other = signature;
        other[at] ^= std::byte{1};
        EXPECT_FALSE(verify_ed25519(pair.public_key(), "what was said", other)) << at;
    }
    EXPECT_FALSE(verify_ed25519({}, "what was said", {}));
}

TEST(ed25519, is_written_and_read_as_text) {
    const auto pair = pair_of('a');
    const auto text = ed25519_text(pair.public_key(), publisher_key_prefix);
    EXPECT_EQ(parse_ed25519_public(text, publisher_key_prefix), pair.public_key());
    EXPECT_FALSE(parse_ed25519_public(text, "whpk_"));
    EXPECT_FALSE(parse_ed25519_public(text + "A", publisher_key_prefix));
    EXPECT_FALSE(parse_ed25519_public("phpub_", publisher_key_prefix));
    const auto again = ed25519_pair::parse(pair.reveal("phsec_"), "phsec_");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->public_key(), pair.public_key());
    EXPECT_FALSE(ed25519_pair::parse(pair.reveal("phsec_")));  // Of webhooks.
    EXPECT_FALSE(ed25519_pair::parse(pair.reveal(), "phsec_"));
}

}  // namespace
}  // namespace posthorn
