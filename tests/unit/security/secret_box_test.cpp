#include "security/secret_box.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::HasSubstr;
using testing::Not;

secret of(std::string_view text) { return secret(std::as_bytes(std::span(text))); }

secret_box box(std::string_view letters) {
    std::vector<secret> keys;
    for (const char each : letters) keys.push_back(of(std::string(32, each)));
    return secret_box::make(std::move(keys)).value();
}

std::string text_of(const result<secret>& opened) {
    if (!opened) return std::string(opened.error().name());
    return {reinterpret_cast<const char*>(opened->reveal().data()), opened->reveal().size()};
}

class secret_box_test : public testing::Test {
protected:
    std::string seal(const secret_box& in, std::string_view text, std::string_view place) {
        return in.seal(of(text), place, random_);
    }

    system_random random_;
};

TEST_F(secret_box_test, opens_what_it_sealed_for_the_same_place) {
    const auto one = box("a");
    for (const std::string& text :
         {std::string("x"), std::string(24, 's'), std::string(512, 's'), std::string("a\0b", 3)})
        EXPECT_EQ(text_of(one.open(seal(one, text, "row 1"), "row 1")), text);
    EXPECT_EQ(text_of(one.open(seal(one, "text", ""), "")), "text");
}

TEST_F(secret_box_test, tells_nothing_of_a_secret_and_seals_it_anew_each_time) {
    const auto one = box("a");
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i) all.insert(seal(one, "correct horse battery", "row"));
    EXPECT_EQ(all.size(), 100U);
    for (const auto& each : all) EXPECT_THAT(each, Not(HasSubstr("horse")));
}

TEST_F(secret_box_test, does_not_open_what_lies_in_another_place) {
    const auto one = box("a");
    const auto sealed = seal(one, "text", "tenant-1/7");
    const auto moved = one.open(sealed, "tenant-2/7");
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code(), error_code::secret_unavailable);
    EXPECT_THAT(moved.error().what(), HasSubstr("another place"));
}

TEST_F(secret_box_test, does_not_open_what_was_changed_in_any_byte) {
    const auto one = box("a");
    const auto sealed = seal(one, "a secret of some length", "row");
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        auto changed = sealed;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        EXPECT_EQ(text_of(one.open(changed, "row")), "secret_unavailable") << at;
    }
    for (std::size_t size = 0; size < sealed.size(); ++size)
        EXPECT_EQ(text_of(one.open(sealed.substr(0, size), "row")), "secret_unavailable") << size;
    EXPECT_EQ(text_of(one.open(sealed + "AAAA", "row")), "secret_unavailable");
    EXPECT_EQ(text_of(one.open("a secret that was never sealed", "row")), "secret_unavailable");
}

TEST_F(secret_box_test, opens_with_an_old_key_and_seals_with_the_new_one) {
    const auto before = box("a");
    const auto sealed = seal(before, "text", "row");
    const auto during = box("ba");
    EXPECT_EQ(text_of(during.open(sealed, "row")), "text");
    EXPECT_TRUE(during.is_old(sealed));
    const auto renewed = seal(during, "text", "row");
    EXPECT_FALSE(during.is_old(renewed));
    const auto after = box("b");
    EXPECT_EQ(text_of(after.open(renewed, "row")), "text");
    const auto lost = after.open(sealed, "row");
    ASSERT_FALSE(lost);
    EXPECT_THAT(lost.error().what(), HasSubstr("not among those given"));
}

TEST_F(secret_box_test, needs_keys_of_32_bytes) {
    EXPECT_EQ(secret_box::make({}).error().code(), error_code::secret_unavailable);
    for (const auto bytes : std::to_array<std::size_t>({16, 31, 33})) {
        const auto refused = secret_box::make({of(std::string(bytes, 'k'))});
        ASSERT_FALSE(refused) << bytes;
        EXPECT_THAT(refused.error().what(), HasSubstr(std::to_string(bytes)));
    }
}

}  // namespace
}  // namespace posthorn
