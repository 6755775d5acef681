#include "store/rows/row_sizes.hpp"

#include <numeric>

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::HasSubstr;

constexpr message_limits limits{
    .payload_size_max = 1'000, .headers_size_max = 100, .name_size_max = 10, .text_size_max = 20};

/// As large as each may be.
constexpr column_sizes largest{1'000, 100, 10, 10, 10, 20, 20, 20, 20, 64, 64, 64, 64};

TEST(row_sizes, at_their_limits_are_a_message) {
    EXPECT_TRUE(check_sizes(largest, limits));
    EXPECT_EQ(row_bytes_max(limits), std::accumulate(largest.begin(), largest.end(), 0));
    EXPECT_EQ(sum_of(largest), static_cast<std::size_t>(row_bytes_max(limits)));
}

TEST(row_sizes, past_a_limit_name_the_column_its_size_and_the_key) {
    for (std::size_t i = 0; i < largest.size(); ++i) {
        auto sizes = largest;
        ++sizes[i];
        const auto checked = check_sizes(sizes, limits);
        ASSERT_FALSE(checked) << sized_columns[i];
        EXPECT_EQ(checked.error().code(),
                  i < 2 ? error_code::message_too_large : error_code::invalid_argument);
        EXPECT_THAT(checked.error().what(), HasSubstr(std::string(sized_columns[i])));
        EXPECT_THAT(checked.error().what(), HasSubstr(std::to_string(sizes[i]) + " bytes"));
    }
}

TEST(row_sizes, of_limits_without_end_do_not_overflow) {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    const message_limits endless{.payload_size_max = most, .headers_size_max = most};
    EXPECT_GT(row_bytes_max(endless), 0);
    EXPECT_GT(2 * row_bytes_max(endless), 0);
}

}  // namespace
}  // namespace posthorn
