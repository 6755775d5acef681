#include "security/ring_file.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view example = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr std::string_view example_id = "c7c27348fbf33a91";
constexpr std::string_view other = "base64:EBESExQVFhcYGRobHB0eHw==";

wall_time at(std::string_view text) { return parse_iso8601(text).value(); }
const wall_time noon = at("2026-02-14T12:00:00Z");

secret bytes_of(std::byte each) {
    const std::array<std::byte, 32> bytes{each};
    return secret(bytes);
}

ring_file parsed(std::string_view text) {
    auto made = ring_file::parse(text, "keys");
    if (!made) throw made.error();
    return *std::move(made);
}

std::string text_with(std::string_view line) { return std::string(line) + '\n'; }

TEST(ring_file, keeps_comments_and_order_when_written_again) {
    const std::string text = "# stock, shared with orders\n\n" + std::string(example) +
                             " from=2026-02-14T12:00:00.000Z  # since winter\n" +
                             std::string(other) + " until=2026-02-15T00:00:00.000Z revoked\n";
    EXPECT_EQ(parsed(text).to_text(), text);
}

TEST(ring_file, reads_dates_and_revocation) {
    const auto keys = parsed(std::string(example) + "\tfrom=2026-02-14T12:00:00Z\r\n" +
                             std::string(other) + " revoked until=2026-02-14T13:00:00+01:00")
                          .keys();
    ASSERT_EQ(keys.size(), 2u);
    EXPECT_EQ(keys[0].id, example_id);
    EXPECT_EQ(keys[0].signs_from, noon);
    EXPECT_EQ(keys[0].verifies_until, std::nullopt);
    EXPECT_FALSE(keys[0].revoked);
    EXPECT_EQ(keys[1].verifies_until, noon);
    EXPECT_TRUE(keys[1].revoked);
}

TEST(ring_file, is_an_empty_ring_without_keys) {
    for (const std::string_view text : {"", "\n", "# nothing yet\n"})
        EXPECT_TRUE(parsed(text).keys().empty());
}

TEST(ring_file, names_the_line_that_is_wrong_and_never_quotes_it) {
    const std::string key(example);
    for (const std::string& bad :
         {std::string("base64:c2hvcnQ="), std::string("pa55word!"), key + " " + std::string(other),
          key + " from=today", key + " until=", key + " from=2026-02-14T12:00:00Z from=x",
          key + " expired"}) {
        const auto failed = ring_file::parse("# first\n" + bad + "\n", "stock.keys");
        ASSERT_FALSE(failed) << bad;
        const std::string message = failed.error().what();
        EXPECT_EQ(failed.error().code(), error_code::invalid_configuration);
        EXPECT_THAT(message, testing::StartsWith("stock.keys:2: "));
        for (const auto* part : {"AAEC", "EBES", "pa55", "c2hv"})
            EXPECT_THAT(message, Not(HasSubstr(part))) << bad;
    }
}

TEST(ring_file, refuses_a_key_that_is_there_twice) {
    EXPECT_FALSE(ring_file::parse(text_with(example) + text_with(example), "keys"));
}

TEST(ring_file, limits_the_number_of_keys) {
    std::string text;
    for (std::size_t i = 0; i < ring_file::keys_max; ++i)
        text += to_base64_text(bytes_of(static_cast<std::byte>(i))) + "\n";
    auto full = parsed(text);
    EXPECT_FALSE(ring_file::parse(text + text_with(example), "keys"));
    EXPECT_FALSE(full.rotate(bytes_of(std::byte{200}), {.now = noon}));
}

TEST(rotation, lets_the_old_key_sign_until_the_new_one_does_and_verify_for_the_overlap) {
    auto file = parsed("# shared with stock\n" + text_with(example));
    ASSERT_TRUE(file.rotate(bytes_of(std::byte{7}), {.now = noon, .after = 1h, .overlap = 24h}));
    const auto again = parsed(file.to_text());  // What the next reader sees.
    EXPECT_THAT(file.to_text(), testing::StartsWith("# shared with stock\nbase64:Bw"));
    const auto ring = again.ring();
    const std::string fresh = ring.keys()[0].id;
    EXPECT_EQ(ring.signer(noon + 1h - 1ms)->id, example_id);
    EXPECT_EQ(ring.signer(noon + 1h)->id, fresh);
    EXPECT_TRUE(ring.find(fresh, noon)) << "the peer may be quicker than we are";
    EXPECT_TRUE(ring.find(example_id, noon + 25h - 1ms));
    EXPECT_FALSE(ring.find(example_id, noon + 25h));
}

TEST(rotation, during_another_leaves_no_key_for_ever_and_no_moment_without_a_signer) {
    auto file = parsed(text_with(example));
    ASSERT_TRUE(file.rotate(bytes_of(std::byte{7}), {.now = noon, .after = 48h, .overlap = 1h}));
    ASSERT_TRUE(file.rotate(bytes_of(std::byte{8}), {.now = noon, .after = 1h, .overlap = 2h}));
    const auto ring = parsed(file.to_text()).ring();
    ASSERT_EQ(ring.keys().size(), 3u);
    EXPECT_EQ(ring.signer(noon)->id, example_id);
    for (const auto later : {1h, 3h, 48h, 1000h})
        EXPECT_EQ(ring.signer(noon + later)->id, ring.keys()[0].id) << later.count();
    EXPECT_EQ(ring.keys()[1].verifies_until, noon + 3h);
    EXPECT_EQ(ring.keys()[2].verifies_until, noon + 3h);
}

TEST(rotation, signs_at_once_where_no_key_does) {
    auto file = parsed(text_with(example) + "# end\n");
    ASSERT_TRUE(file.revoke(example_id));
    ASSERT_TRUE(file.rotate(bytes_of(std::byte{7}), {.now = noon, .after = 1h, .overlap = 1h}));
    EXPECT_EQ(file.ring().signer(noon)->id, file.keys()[0].id);
    EXPECT_NE(file.keys()[0].id, example_id);
}

TEST(rotation, drops_keys_past_their_date) {
    auto file = parsed(text_with(example) + std::string(other) + " until=2026-02-14T12:00:00Z\n");
    ASSERT_TRUE(file.rotate(bytes_of(std::byte{7}), {.now = noon}));
    EXPECT_EQ(file.keys().size(), 2u);
    EXPECT_THAT(file.to_text(), Not(HasSubstr("EBES")));
}

TEST(revocation, stops_a_key_and_is_written_down) {
    auto file = parsed(text_with(example));
    ASSERT_TRUE(file.revoke(example_id));
    ASSERT_TRUE(file.revoke(example_id)) << "twice is the same";
    EXPECT_EQ(file.to_text(), std::string(example) + " revoked\n");
    EXPECT_FALSE(parsed(file.to_text()).ring().find(example_id, noon));
}

TEST(revocation, names_the_keys_there_are_when_asked_for_another) {
    auto file = parsed(text_with(example));
    const auto failed = file.revoke("0000");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), error_code::not_found);
    EXPECT_STREQ(failed.error().what(),
                 "no key has the id '0000'; the file holds c7c27348fbf33a91");
}

}  // namespace
}  // namespace posthorn
