#include "security/digest.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::string hex(const sha256_digest& digest) {
    std::string out;
    for (const auto byte : digest) out += fmt::format("{:02x}", std::to_integer<int>(byte));
    return out;
}

TEST(digest, agrees_with_the_published_examples) {
    EXPECT_EQ(hex(sha256_of({})),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(sha256_of({"abc"})),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(digest, slices_count_as_one_text) {
    EXPECT_EQ(sha256_of({"a", "", "bc"}), sha256_of({"abc"}));
}

TEST(digest, starts_anew_after_each_finish) {
    sha256 reused;
    reused.add("something else");
    static_cast<void>(reused.finish());
    reused.add("abc");
    EXPECT_EQ(reused.finish(), sha256_of({"abc"}));
}

TEST(digest, fields_cannot_run_into_each_other) {
    sha256 reused;
    reused.add_field("ab");
    reused.add_field("c");
    const auto first = reused.finish();
    reused.add_field("a");
    reused.add_field("bc");
    EXPECT_NE(reused.finish(), first);
}

TEST(digest, a_fields_length_is_eight_bytes_with_the_lowest_first) {
    sha256 reused;
    reused.add_field("abc");
    EXPECT_EQ(reused.finish(), sha256_of({std::string_view("\3\0\0\0\0\0\0\0abc", 11)}));
}

}  // namespace
}  // namespace posthorn
