#include "webhook/routes/portal_token.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

secret key_of(char fill) {
    const std::vector<std::byte> bytes(32, static_cast<std::byte>(fill));
    return secret(bytes);
}

constexpr wall_time noon{1'771'070'400s};

TEST(portal_tokens, say_what_they_grant_until_their_time_is_over) {
    const portal_tokens tokens(key_of('a'));
    const portal_grant grant{.tenant = "acme \"ö\"", .may_write = true, .until = noon + 1h};
    const auto token = tokens.mint(grant);
    EXPECT_EQ(tokens.verify(token, noon), grant);
    EXPECT_EQ(tokens.verify(token, noon + 1h - 1ms), grant);
    EXPECT_EQ(tokens.verify(token, noon + 1h), std::nullopt);
}

TEST(portal_tokens, are_taken_by_those_with_the_same_key_alone) {
    const portal_tokens tokens(key_of('a'));
    const auto token = tokens.mint({.tenant = "acme", .until = noon + 1h});
    EXPECT_TRUE(portal_tokens(key_of('a')).verify(token, noon));
    EXPECT_FALSE(portal_tokens(key_of('b')).verify(token, noon));
}

TEST(portal_tokens, are_not_taken_with_any_letter_changed_or_missing) {
    const portal_tokens tokens(key_of('a'));
    const auto token = tokens.mint({.tenant = "acme", .until = noon + 1h});
    for (std::size_t i = 0; i < token.size(); ++i) {
        auto changed = token;
        changed[i] = changed[i] == 'x' ? 'y' : 'x';
        EXPECT_FALSE(tokens.verify(changed, noon)) << changed;
        EXPECT_FALSE(tokens.verify(token.substr(0, i), noon)) << i;
    }
}

TEST(portal_tokens, name_a_tenant) {
    const portal_tokens tokens(key_of('a'));
    EXPECT_FALSE(tokens.verify(tokens.mint({.tenant = "", .until = noon + 1h}), noon));
}

}  // namespace
}  // namespace posthorn
