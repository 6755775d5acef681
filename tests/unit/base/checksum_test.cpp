#include "base/checksum.hpp"

#include <string>

#include <gtest/gtest.h>

namespace posthorn {
namespace {

std::int64_t sum_of(std::initializer_list<std::string_view> fields) {
    checksum sum;
    for (const auto each : fields) sum.add(each);
    return sum.value();
}

TEST(checksum, tells_every_flipped_bit) {
    const std::string text = "a payload that is longer than some words of eight bytes";
    for (std::size_t at = 0; at < text.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            auto changed = text;
            changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
            ASSERT_NE(sum_of({text}), sum_of({changed})) << at << " " << bit;
        }
}

TEST(checksum, tells_where_fields_end) {
    EXPECT_NE(sum_of({"ab", "c"}), sum_of({"a", "bc"}));
    EXPECT_NE(sum_of({"", "a"}), sum_of({"a", ""}));
    EXPECT_NE(sum_of({std::string_view("a\0", 2)}), sum_of({"a"}));
}

TEST(checksum, never_changes_for_the_same_fields) {
    EXPECT_EQ(sum_of({"orders", "OrderPlaced", "{}"}), sum_of({"orders", "OrderPlaced", "{}"}));
}

}  // namespace
}  // namespace posthorn
