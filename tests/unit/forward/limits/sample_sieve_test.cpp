#include "forward/limits/sample_sieve.hpp"

#include <gmock/gmock.h>

namespace posthorn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<waiting_sample> of_key(std::string_view key, std::int64_t first,
                                   std::vector<double> values) {
    std::vector<waiting_sample> all;
    for (const auto each : values)
        all.push_back({.seq = first++, .id = {}, .key = std::string(key), .value = each});
    return all;
}

std::vector<std::int64_t> gone(sample_sieve& sieve, const std::vector<waiting_sample>& next) {
    std::vector<std::int64_t> seqs;
    for (const auto& each : sieve.thin(next)) seqs.push_back(each.which.seq);
    return seqs;
}

TEST(sample_sieve, keeps_what_is_further_than_the_deadband_from_the_last_that_was_kept) {
    sample_sieve sieve({.deadband = 1});
    EXPECT_THAT(gone(sieve, of_key("t", 1, {20, 20.5, 21, 21.5, 21.9, 20.4})), ElementsAre(2, 3, 5))
        << "20.5 and 21 are near 20; 21.5 is not, and 21.9 is near that";
    EXPECT_THAT(gone(sieve, of_key("t", 7, {20.5})), ElementsAre(7)) << "over several looks";
    EXPECT_EQ(sieve.last(), 7);
}

TEST(sample_sieve, does_not_let_a_value_creep_away) {
    sample_sieve sieve({.deadband = 1});
    std::vector<double> creeping;
    for (int i = 0; i < 100; ++i) creeping.push_back(i * 0.5);
    EXPECT_EQ(gone(sieve, of_key("t", 1, creeping)).size(), 66U) << "each third is kept";
}

TEST(sample_sieve, takes_percent_of_the_value_that_was_kept) {
    sample_sieve sieve({.deadband = 10, .deadband_is_percent = true});
    EXPECT_THAT(gone(sieve, of_key("t", 1, {-100, -109, -111, 0, 0, 0.1})), ElementsAre(2, 5));
}

TEST(sample_sieve, tells_keys_apart) {
    sample_sieve sieve({.deadband = 1});
    auto mixed = of_key("a", 1, {1, 1});
    mixed[1].key = "b";
    EXPECT_THAT(gone(sieve, mixed), IsEmpty());
}

TEST(sample_sieve, keeps_the_last_of_each_key_alone_if_it_is_told_to) {
    sample_sieve sieve({.keep_last = true});
    EXPECT_THAT(gone(sieve, of_key("a", 1, {1, 50, 7})), ElementsAre(1, 2));
    EXPECT_THAT(gone(sieve, of_key("b", 4, {1})), IsEmpty());
    EXPECT_THAT(gone(sieve, of_key("a", 5, {9})), ElementsAre(3));
}

TEST(sample_sieve, reads_a_deadband_as_a_number_or_as_percent) {
    EXPECT_EQ(parse_deadband("0.5")->value, 0.5);
    EXPECT_FALSE(parse_deadband("0.5")->is_percent);
    EXPECT_EQ(parse_deadband("2%")->value, 2);
    EXPECT_TRUE(parse_deadband("2%")->is_percent);
    for (const auto* wrong : {"", "%", "-1", "nan", "inf", "1e999", "2 %", "two"})
        EXPECT_FALSE(parse_deadband(wrong)) << wrong;
}

}  // namespace
}  // namespace posthorn
