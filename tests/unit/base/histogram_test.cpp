#include "base/histogram.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posthorn {
namespace {

using testing::ElementsAre;

constexpr std::array<std::uint64_t, 3> bounds{10, 20, 30};

TEST(histogram, puts_a_value_below_the_first_bound_that_it_does_not_exceed) {
    histogram seen(bounds);
    for (const std::uint64_t value : {0U, 10U, 11U, 20U, 30U, 31U, 1'000'000U}) seen.record(value);
    const auto view = seen.view();
    EXPECT_THAT(view.bounds, ElementsAre(10, 20, 30));
    EXPECT_THAT(view.counts, ElementsAre(2, 2, 1, 2));
    EXPECT_EQ(view.count(), 7U);
    EXPECT_EQ(view.sum, 1'000'102U);
}

TEST(histogram, counts_a_value_several_times) {
    histogram seen(bounds);
    seen.record(15, 4);
    EXPECT_THAT(seen.view().counts, ElementsAre(0, 4, 0, 0));
    EXPECT_EQ(seen.view().sum, 60U);
}

TEST(histogram, loses_nothing_to_threads) {
    histogram seen(bounds);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int n = 0; n < 1'000; ++n) seen.record(15);
            });
    }
    EXPECT_EQ(seen.view().count(), 4'000U);
    EXPECT_EQ(seen.view().sum, 60'000U);
}

}  // namespace
}  // namespace posthorn
