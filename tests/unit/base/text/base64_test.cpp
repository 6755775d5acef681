#include "base/text/base64.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::string decoded(std::string_view text) {
    const auto bytes = decode_base64(text);
    if (!bytes) return "refused";
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

TEST(base64, agrees_with_the_published_examples) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff", "+/8="},
    };
    for (const auto& [text, encoded] : cases) {
        EXPECT_EQ(encode_base64(text), encoded);
        EXPECT_EQ(decoded(encoded), text);
    }
}

TEST(base64, refuses_what_is_not_the_one_text_of_its_bytes) {
    for (const std::string_view bad :
         {"Zg", "Zg=", "Z===", "====", "=", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v\n", " Zm9v", "Zm-_",
          "Zm9v=", "Z=9v", "Zg=v", "Zm8=Zm8=", "Z\xc3\xa9v"})
        EXPECT_EQ(decoded(bad), "refused") << bad;
}

TEST(base64, brings_back_random_bytes) {
    std::mt19937 dice(3);
    for (std::size_t size = 0; size < 300; ++size) {
        std::string bytes(size, '\0');
        for (auto& byte : bytes) byte = static_cast<char>(dice());
        EXPECT_EQ(decoded(encode_base64(bytes)), bytes);
    }
}

}  // namespace
}  // namespace posthorn
