#include "app/cli/top/node_samples.hpp"

#include <gtest/gtest.h>

namespace posthorn::cli {
namespace {

using namespace std::chrono_literals;

TEST(node_samples, are_read_from_prometheus_text) {
    const auto seen = parse_samples(
        "# HELP a_total Things.\n# TYPE a_total counter\na_total 5\n"
        "b{destination=\"st ock\\\"1\"} 2.5\nodd line\nc\n\nd 1e3",
        steady_time{});
    EXPECT_EQ(seen.values.size(), 3U);
    EXPECT_EQ(seen.value("a_total"), 5);
    EXPECT_EQ(seen.value_of("b", "st ock\"1"), 2.5);
    EXPECT_EQ(seen.value("d"), 1000);
    EXPECT_EQ(seen.value("c"), std::nullopt);
}

TEST(node_samples, tell_rates_and_means_between_two_moments) {
    const auto before = parse_samples("n 10\nt_sum 100\nt_count 10\n", steady_time{1s});
    const auto now = parse_samples("n 40\nt_sum 160\nt_count 20\nnew 1\n", steady_time{3s});
    EXPECT_EQ(rate_between(before, now, "n"), 15);
    EXPECT_EQ(mean_between(before, now, "t"), 6);
    EXPECT_EQ(rate_between(before, now, "new"), std::nullopt) << "there is no before";
    EXPECT_EQ(rate_between(now, before, "n"), std::nullopt) << "the node has started anew";
    EXPECT_EQ(rate_between(now, now, "n"), std::nullopt) << "no time has passed";
    EXPECT_EQ(mean_between(now, now, "t"), std::nullopt) << "there was none";
}

}  // namespace
}  // namespace posthorn::cli
