#include "security/key_ring.hpp"

#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;

constexpr wall_time now{std::chrono::hours{500'000}};

signing_key key_of(char first) {
    std::string bytes(32, first);
    return make_key(secret(std::as_bytes(std::span(bytes))));
}

TEST(key_ring, an_id_follows_from_the_secret_as_the_page_says) {
    const auto value = secret::parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    ASSERT_TRUE(value);
    EXPECT_EQ(key_id_of(*value), "c7c27348fbf33a91");
    EXPECT_NE(key_of('a').id, key_of('b').id);
}

TEST(key_ring, the_first_key_in_force_signs) {
    auto later = key_of('a');
    later.signs_from = now + 1ms;
    auto ended = key_of('b');
    ended.verifies_until = now;
    auto revoked = key_of('c');
    revoked.revoked = true;
    const auto good = key_of('d');
    const key_ring ring({later, ended, revoked, good, key_of('e')});
    ASSERT_NE(ring.signer(now), nullptr);
    EXPECT_EQ(ring.signer(now)->id, good.id);
    EXPECT_EQ(ring.signer(now + 1ms)->id, later.id);
    EXPECT_EQ(ring.signer(now - 1ms)->id, ended.id);
    EXPECT_EQ(key_ring({later, ended, revoked}).signer(now), nullptr);
    EXPECT_EQ(key_ring().signer(now), nullptr);
}

TEST(key_ring, a_key_verifies_before_it_signs_and_until_its_date) {
    auto later = key_of('a');
    later.signs_from = now + 1h;
    auto retired = key_of('b');
    retired.verifies_until = now;
    const key_ring ring({later, retired});
    EXPECT_NE(ring.find(later.id, now), nullptr);
    EXPECT_NE(ring.find(retired.id, now - 1ms), nullptr);
    EXPECT_EQ(ring.find(retired.id, now), nullptr);
    EXPECT_EQ(ring.find("0000000000000000", now), nullptr);
    EXPECT_EQ(ring.find("", now), nullptr);
}

TEST(key_ring, a_revoked_key_counts_no_more_even_if_it_is_there_twice) {
    auto revoked = key_of('a');
    revoked.revoked = true;
    const key_ring ring({key_of('a'), revoked});
    EXPECT_EQ(ring.find(revoked.id, now), nullptr);
    EXPECT_EQ(ring.signer(now), nullptr);
}

}  // namespace
}  // namespace posthorn
