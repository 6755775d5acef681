#include "security/secret.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

constexpr std::string_view text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

TEST(secret, is_read_from_base64_with_or_without_its_name) {
    const auto plain = secret::parse(text);
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->reveal().size(), 32U);
    EXPECT_EQ(plain->reveal()[31], std::byte{31});
    const auto named = secret::parse("base64:" + std::string(text));
    ASSERT_TRUE(named);
    EXPECT_TRUE(std::ranges::equal(named->reveal(), plain->reveal()));
}

TEST(secret, refuses_what_is_none_without_quoting_it) {
    for (const std::string_view bad :
         {"", "base64:", "AAECAwQFBgcICQoLDA0O", "correct horse battery staple", "hex:00"}) {
        const auto read = secret::parse(bad);
        ASSERT_FALSE(read) << bad;
        EXPECT_EQ(read.error().code(), error_code::secret_unavailable);
        if (!bad.empty())
            EXPECT_EQ(std::string_view(read.error().what()).find(bad), std::string_view::npos);
    }
}

TEST(secret, sixteen_bytes_suffice_and_fifteen_do_not) {
    EXPECT_TRUE(secret::parse("AAECAwQFBgcICQoLDA0ODw=="));
    EXPECT_FALSE(secret::parse("AAECAwQFBgcICQoLDA0O"));
}

TEST(secret, can_be_assigned_over_another_and_over_itself) {
    auto one = *secret::parse(text);
    secret other;
    EXPECT_TRUE(other.empty());
    other = one;
    const auto& same = other;
    other = same;
    EXPECT_TRUE(std::ranges::equal(other.reveal(), one.reveal()));
    secret third = *secret::parse("AAECAwQFBgcICQoLDA0ODw==");
    third = std::move(one);
    EXPECT_TRUE(std::ranges::equal(third.reveal(), other.reveal()));
}

}  // namespace
}  // namespace posthorn
